// Models in MuJoCo's own file system: loaded with everything beside them, and taken away again.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export function openModels(mujoco) {
  // pictures are not in our copies of the models, and have no say here
  const withoutPictures = text =>
    text.replace(/<texture\b[^>]*\/>/g, '').replace(/(<material\b[^>]*?)\btexture="[^"]*"/g, '$1')
      .replace(/texuniform="[^"]*"|texrepeat="[^"]*"/g, '');

  function copy(from, to) {
    for (const name of readdirSync(from)) {
      const path = join(from, name), target = `${to}/${name}`;
      if (statSync(path).isDirectory()) {
        mujoco.FS.mkdir(target);
        copy(path, target);
      } else {
        const text = name.endsWith('.xml');
        mujoco.FS.writeFile(target, text ? withoutPictures(readFileSync(path, 'utf8')) : readFileSync(path));
      }
    }
  }

  let loaded = 0;
  function load(path, key) {
    const place = `/m${loaded++}`;
    mujoco.FS.mkdir(place);
    copy(dirname(path), place);
    const model = mujoco.MjModel.from_xml_path(`${place}/${basename(path)}`);
    const data = new mujoco.MjData(model);
    for (let k = 0; key && k < model.nkey; k++)
      if (model.key(k).name === key) mujoco.mj_resetDataKeyframe(model, data, k);
    mujoco.mj_forward(model, data);
    return { model, data, place };
  }

  function clear(place) {
    for (const name of mujoco.FS.readdir(place)) {
      const path = `${place}/${name}`;
      if (name === '.' || name === '..') continue;
      if (mujoco.FS.isDir(mujoco.FS.stat(path).mode)) clear(path);
      else mujoco.FS.unlink(path);
    }
    mujoco.FS.rmdir(place);
  }

  // its memory is limited
  function release({ model, data, place }) {
    data.delete();
    model.delete();
    clear(place);
  }
  return { load, release };
}
