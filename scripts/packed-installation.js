import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Resolves the folder of a package as Node.js does. */
function folderOf(name, from) {
  const folder = join(from, 'node_modules', name)
  if (existsSync(folder)) return folder
  if (dirname(from) === from) throw new Error(`${name} is not installed`)
  return folderOf(name, dirname(from))
}

/** What an installed package needs, where it is found, and the package that needs it. */
const dependenciesOf = (parent, from) =>
  Object.keys(manifestOf(parent).dependencies ?? {}).map((name) => ({ name, from, parent }))

/**
 * Installs tarballs into an empty directory like npm, with exactly the dependencies in their manifests. Copies them
 * from the installation of this repository, so that no network is needed.
 *
 * @param packed the tarballs with their source folders: [{ name, tarball, folder }]
 */
export function installPacked(packed, directory) {
  const modules = join(directory, 'node_modules')
  const wanted = packed.flatMap(({ name, tarball, folder }) => {
    const target = join(modules, name)
    mkdirSync(target, { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'])
    return dependenciesOf(target, folder)
  })
  for (const { name, from, parent } of wanted) {
    if (packed.some((each) => each.name === name)) continue
    const folder = folderOf(name, from)
    const { version } = manifestOf(folder)
    const shared = join(modules, name)
    const isOther = existsSync(shared) && manifestOf(shared).version !== version
    // Like npm, next to the package that needs another version.
    const target = isOther ? join(parent, 'node_modules', name) : shared
    if (existsSync(target)) continue
    cpSync(folder, target, { recursive: true, dereference: true })
    // Its dependencies are copied one by one: its node_modules may contain other packages.
    rmSync(join(target, 'node_modules'), { recursive: true, force: true })
    wanted.push(...dependenciesOf(target, folder))
  }
  writeFileSync(join(directory, 'package.json'), '{ "type": "module", "private": true }')
  mkdirSync(join(modules, '.bin'))
  symlinkSync('../grantry/bin/grantry.js', join(modules, '.bin/grantry'))
}

/** Starts the installed server, requests a token and stops the server. */
export async function tryServer(directory) {
  const child = spawn(join(directory, 'node_modules/.bin/grantry'), ['serve', '--port', '0'], { cwd: directory })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const ended = new Promise((resolve) => child.once('close', resolve))
  const listening = new Promise((resolve) => {
    child.stderr.on('data', () => /listening on \S+ for /u.test(output) && resolve(undefined))
  })
  await Promise.race([listening, ended])
  const [, address] = /listening on (\S+) for /u.exec(output) ?? []
  if (address === undefined) throw new Error(`grantry serve exited:\n${output}`)
  try {
    const response = await fetch(`http://${address}/connect/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('demo:demo-secret')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
    })
    if (response.status !== 200) throw new Error(`grantry serve responded ${response.status}: ${await response.text()}`)
  } finally {
    child.kill('SIGTERM')
  }
  const code = await ended
  if (code !== 0) throw new Error(`grantry serve exited with ${code}:\n${output}`)
}
