// The image that `scripts/release/image.js` writes. No container engine runs here: its files are unpacked, and its program is
// started by `chroot`, in a mount namespace in which they are read-only, as the user of the image.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeImage } from '../../scripts/release/image.js'
import { diskTemporaryDirectory } from '../support/directory.ts'
import { singleFile } from './single-file.ts'
import { type StartedServer, startServer } from './started-server.ts'

// Three copies of Node.js are too large for a directory in memory.
const directory = mkdtempSync(join(diskTemporaryDirectory(), 'grantry-image-test-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const rootfs = join(directory, 'rootfs')
const isRoot = process.getuid?.() === 0

/** A command in the image, which follows as arguments. `$1` is mounted as /etc/grantry. */
const isolated = [
  'unshare',
  ...(isRoot ? [] : ['--user', '--map-root-user']),
  ...['--mount', '--propagation', 'private', 'sh', '-ec'],
  'mount --bind "$0" "$0"; mount --bind "$1" "$0/etc/grantry"; mount -o remount,bind,ro "$0/etc/grantry"; ' +
    `mount -o remount,bind,ro "$0"; shift; exec env -i "$(command -v chroot)" ${isRoot ? '--userspec=1000:1000 ' : ''}"$0" "$@"`,
  rootfs,
  join(directory, 'configuration'),
]
const canIsolate = spawnSync('unshare', [...isolated.slice(1, isolated.indexOf('sh')), 'true']).status === 0

interface Blob {
  readonly digest: string
  readonly size: number
}
const blobOf = (image: string, { digest }: Blob): Buffer =>
  readFileSync(join(image, 'blobs/sha256', digest.replace('sha256:', '')))
const jsonOf = (image: string, blob: Blob) => JSON.parse(blobOf(image, blob).toString())
const image = join(directory, 'image')
let command: readonly string[] = []

beforeAll(async () => {
  const server = await singleFile()
  writeImage(image, { server })
  const [manifest] = JSON.parse(readFileSync(join(image, 'index.json'), 'utf8')).manifests
  const { config, layers } = jsonOf(image, manifest)
  command = jsonOf(image, config).config.Entrypoint
  mkdirSync(rootfs)
  execFileSync('tar', ['-xf', '-', '-C', rootfs, '--no-same-owner'], { input: blobOf(image, layers[0]) })
  mkdirSync(join(directory, 'configuration'), { mode: 0o755 })
  writeFileSync(
    join(directory, 'configuration/grantry.config.json'),
    JSON.stringify({ issuer: 'http://127.0.0.1:8484', storage: { driver: 'memory' }, clients: [], scopes: [] }),
  )
})

test('each part of the image has its digest and size', () => {
  const [manifest] = JSON.parse(readFileSync(join(image, 'index.json'), 'utf8')).manifests
  const { config, layers } = jsonOf(image, manifest)
  for (const blob of [manifest, config, ...layers]) {
    const content = blobOf(image, blob)
    expect(`sha256:${createHash('sha256').update(content).digest('hex')}`).toBe(blob.digest)
    expect(content.length).toBe(blob.size)
  }
  expect(jsonOf(image, config).rootfs.diff_ids).toEqual([layers[0].digest])
})

test('the image has the licences of all that is in it', () => {
  const [manifest] = JSON.parse(readFileSync(join(image, 'index.json'), 'utf8')).manifests
  const { config } = jsonOf(image, jsonOf(image, manifest).config)
  const label: string = config.Labels['org.opencontainers.image.licenses']
  const names = ['Apache-2.0', 'MIT', 'LGPL-2.1-or-later', '(GPL-3.0-or-later WITH GCC-exception-3.1)']
  expect(label.split(' AND ')).toEqual(expect.arrayContaining(names))
  const texts = ['libc6', 'libgcc-s1', 'libstdc++6', 'nodejs'].map((name) =>
    readFileSync(join(rootfs, 'usr/share/doc', name, 'copyright'), 'utf8'),
  )
  expect(texts.map((text) => text.length > 1000)).toEqual([true, true, true, true])
})

test('the image has the licence that is beside a Node.js of no package, and is not written without one', async () => {
  const server = await singleFile()
  const node = join(directory, 'node/bin/node')
  mkdirSync(join(directory, 'node/bin'), { recursive: true })
  // Any program: it is not started.
  copyFileSync('/bin/true', node)
  const target = join(directory, 'without-licence')
  expect(() => writeImage(target, { node, server })).toThrow(`the licence of ${node} is missing`)
  expect(existsSync(target)).toBe(false)
  writeFileSync(join(directory, 'node/LICENSE'), 'the licence of this Node.js')
  writeImage(target, { node, server })
  const [manifest] = JSON.parse(readFileSync(join(target, 'index.json'), 'utf8')).manifests
  const layer = blobOf(target, jsonOf(target, manifest).layers[0])
  const text = execFileSync('tar', ['-xOf', '-', './usr/share/doc/nodejs/copyright'], { input: layer })
  expect(String(text)).toBe('the licence of this Node.js')
})

test('the image is the same bytes a second time', async () => {
  const again = join(directory, 'again')
  writeImage(again, { server: await singleFile() })
  const indexOf = (folder: string): string => readFileSync(join(folder, 'index.json'), 'utf8')
  expect(indexOf(again)).toBe(indexOf(image))
})

test('the image has an unprivileged user, a health check, and no shell', () => {
  const [manifest] = JSON.parse(readFileSync(join(image, 'index.json'), 'utf8')).manifests
  const { config } = jsonOf(image, jsonOf(image, manifest).config)
  expect(config.User).toBe('1000:1000')
  expect(config.Healthcheck.Test).toEqual(['CMD', '/usr/local/bin/node', '-e', expect.stringContaining('/health/live')])
  const files = execFileSync('find', [rootfs, '-type', 'f'], { encoding: 'utf8' }).trim().split('\n')
  const programs = files.map((file) => file.slice(rootfs.length)).filter((file) => /\/s?bin\//u.test(file))
  expect(programs).toEqual(['/usr/local/bin/node'])
  // Set-user-ID programs, and what the user of the image could change.
  expect(execFileSync('find', [rootfs, '-perm', '/6022'], { encoding: 'utf8' })).toBe('')
})

describe.runIf(canIsolate)('the image, read-only and as its user', () => {
  let server: StartedServer
  beforeAll(async () => {
    const configuration = ['--config', '/etc/grantry/grantry.config.json', '--host', '127.0.0.1']
    server = await startServer([...isolated, ...command], { cwd: directory, arguments: configuration })
  })
  afterAll(() => server?.stop())

  test('serves, and passes the check of its own health', async () => {
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200)
    const discovery = await fetch(`${server.url}/.well-known/openid-configuration`, {
      headers: { host: '127.0.0.1:8484' },
    })
    expect(await discovery.json()).toMatchObject({ issuer: 'http://127.0.0.1:8484' })
    const [manifest] = JSON.parse(readFileSync(join(image, 'index.json'), 'utf8')).manifests
    const [, ...check] = jsonOf(image, jsonOf(image, manifest).config).config.Healthcheck.Test
    const there = check.map((word: string) => word.replace('127.0.0.1:8484', new URL(server.url).host))
    expect(spawnSync(isolated[0] ?? '', [...isolated.slice(1), ...there]).status).toBe(0)
  })

  test('can write nothing, and find no shell', () => {
    const script = `const { writeFileSync } = require('node:fs')
for (const path of ['/a', '/etc/grantry/a', '/usr/local/lib/grantry/grantry.mjs']) {
  try { writeFileSync(path, ''); console.log(path) } catch { continue }
}
console.log(require('node:child_process').spawnSync('/bin/sh').error.code, process.getuid())`
    const { stdout } = spawnSync(isolated[0] ?? '', [...isolated.slice(1), command[0] ?? '', '-e', script])
    expect(String(stdout)).toBe(`ENOENT ${isRoot ? 1000 : 0}\n`)
  })

  test('stops on SIGTERM', async () => {
    expect(await server.stop()).toBe(0)
  })
})
