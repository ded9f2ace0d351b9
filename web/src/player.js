/* Which frame is shown: playing, stepping, seeking. Only frames that were computed are ever shown, none in between. */
const PAUSE = 1; /* seconds at the end before a replay starts anew */

export class Player {
  /** @param {import('./payload.js').Replay} replay */
  constructor(replay) {
    this.replay = replay;
    this.frame = 0;
    this.clock = replay.time[0] ?? 0;
    this.speed = 1;
    this.playing = false;
    this.loop = true;
    this.listeners = [];
  }

  /** @param {(player: Player) => void} listener called after every change */
  listen(listener) {
    this.listeners.push(listener);
  }

  tell() {
    for (const listener of this.listeners) listener(this);
  }

  get last() {
    return this.replay.frameCount - 1;
  }

  seek(frame) {
    this.frame = Math.max(0, Math.min(this.last, Math.round(frame)));
    this.clock = this.replay.time[this.frame];
    this.tell();
  }

  seekTime(t) {
    this.seek(this.replay.frameAt(t));
  }

  step(count) {
    this.pause();
    this.seek(this.frame + count);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.playing || this.last < 1) return;
    if (this.frame >= this.last) this.seek(0);
    this.playing = true;
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      /* a slow frame does not make the film jump */
      this.clock += Math.min(0.1, (now - before) / 1000) * this.speed;
      before = now;
      const frame = this.replay.frameAt(this.clock);
      if (frame !== this.frame) {
        this.frame = frame;
        if (frame === this.last && !this.loop) this.playing = false;
        this.tell();
      } else if (frame === this.last && this.clock > this.replay.time[this.last] + PAUSE * this.speed) {
        this.clock = this.replay.time[0]; /* the end is seen for a moment, then it starts anew */
      }
      if (this.playing) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    this.tell();
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.tell();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.tell();
  }
}
