import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What the text of a package says in one expression. Others are named by a reference to their text. */
const licences = {
  libc6: 'LGPL-2.1-or-later',
  'libgcc-s1': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  'libstdc++6': 'GPL-3.0-or-later WITH GCC-exception-3.1',
}

/** The package of Debian that a file is from. Some paths are known only with, and some only without `/usr`. */
function packageOf(file) {
  const real = realpathSync(file)
  const paths = [file, real, real.replace(/^\/usr/u, ''), `/usr${real}`]
  for (const path of paths) {
    try {
      const printed = execFileSync('dpkg', ['-S', path], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      return printed.split(/[:,]/u, 1)[0]
    } catch (error) {
      if (error.code === 'ENOENT') throw new Error('the image is written on Debian or Ubuntu: dpkg knows the licences')
    }
  }
  return undefined
}

/** The text of a program that is in no package, as its authors have packed it. */
const textBeside = (program) =>
  [dirname(program), join(dirname(program), '..')].map((folder) => join(folder, 'LICENSE')).find(existsSync)

/**
 * Returns the texts of the licences of Node.js and its libraries: the file of each, and the name of the package.
 *
 * @throws Error if a text is missing: their licences allow no copy without it
 */
export function noticesOf(node, libraries) {
  const notices = new Map()
  for (const file of [node, ...libraries]) {
    const name = packageOf(file)
    const text =
      name === undefined ? file === node && textBeside(realpathSync(node)) : `/usr/share/doc/${name}/copyright`
    if (!text || !existsSync(text)) throw new Error(`the licence of ${file} is missing, so it cannot be in the image`)
    notices.set(name ?? 'nodejs', text)
  }
  return [...notices].map(([name, file]) => ({ name, file }))
}

/**
 * Returns the SPDX expression of all that is in the image.
 *
 * @param components the packages of npm: all that the server needs is in its one file
 */
export function imageLicence(notices, components) {
  const names = [
    ...components.map(({ licence }) => licence.replace(/^\((.*)\)$/u, '$1')),
    ...notices.map(({ name }) => licences[name] ?? `LicenseRef-${name.replaceAll('+', '-')}`),
  ]
  const terms = [...new Set(names)].map((name) => (/ (?:OR|WITH) /u.test(name) ? `(${name})` : name))
  return terms.sort().join(' AND ')
}
