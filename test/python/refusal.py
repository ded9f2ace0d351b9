"""What the tests of the Python package have in common."""


def refused(kind, call, *words):
    try:
        call()
    except kind as error:
        assert all(word in str(error) for word in words), str(error)
        return
    raise AssertionError(f"{kind.__name__} expected")
