"""The stubs are Python, and hold every public class, function and method of the package."""
import ast
import inspect
import os

import frix
import frix.gym

folder, count = os.path.dirname(frix.__file__), 0
for name, module in (("__init__", frix), ("gym", frix.gym)):
    with open(os.path.join(folder, name + ".pyi"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    told = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    for key, value in vars(module).items():
        if key.startswith("_") or not getattr(value, "__module__", "").startswith(module.__name__):
            continue
        if not inspect.isclass(value) and not inspect.isfunction(value):
            continue
        assert key in told, key
        count += 1
        if inspect.isclass(value):
            methods = {node.name for node in told[key].body if isinstance(node, ast.FunctionDef)}
            for method, entry in vars(value).items():
                if not method.startswith("_") and (inspect.isfunction(entry) or isinstance(entry, property)):
                    assert method in methods, (key, method)
                    count += 1
told = [line.strip() for line in open(os.path.join(folder, "__init__.pyi"), encoding="utf-8")]
assert "def step(self, h: float, /) -> Report: ..." in told and "def step_within(self, h: float, microseconds: float) -> Report: ..." in told
assert os.path.exists(os.path.join(folder, "py.typed"))
print(f"{count} names")
