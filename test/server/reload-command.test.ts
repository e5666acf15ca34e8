// `grantry reload`: it reaches the server through a socket beside its pid file, and reports what the server has done.
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Of } from '@grantry/testing'
import { expect, test } from 'vitest'
import { serverProcesses } from '../observability/server-process.ts'
import { printed } from './printed.ts'

const { newHome, start } = serverProcesses()

const write = (home: string, more: object = {}): void =>
  writeFileSync(
    join(home, 'grantry.config.json'),
    JSON.stringify({ issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [], ...more }),
  )

const pidFileIn = (home: string): string => join(home, 'grantry.pid')

async function started(more: object = {}, environment: Readonly<Record<string, string>> = {}) {
  const home = newHome()
  write(home, more)
  const pidFile = pidFileIn(home)
  return { home, pidFile, server: await start({ home, args: ['--pid-file', pidFile], environment }) }
}

test('exits with 0 when the server has read the configuration', async () => {
  const { home, pidFile, server } = await started()
  expect(readFileSync(pidFile, 'utf8')).toBe(`${server.process.pid}\n`)
  expect(lstatSync(`${pidFile}.sock`).mode & 0o777).toBe(0o600)
  expect(await printed('reload', '--pid-file', pidFile)).toEqual({
    code: 0,
    out: `the configuration was read again: ${join(home, 'grantry.config.json')}\n`,
    err: '',
  })
  server.process.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  expect(server.output.err).toContain('configuration_reloaded')
  expect([existsSync(pidFile), existsSync(`${pidFile}.sock`)]).toEqual([false, false])
})

test('finds a mistake in its own process, and sends nothing', async () => {
  const { home, pidFile, server } = await started()
  write(home, { clients: [{ clientId: 'web', grantTypes: ['client_credentials'], scopes: ['none'] }] })
  const { code, err } = await printed('reload', '--pid-file', pidFile)
  expect([code, err]).toEqual([1, expect.stringMatching(/^(?:grantry: .*grantry\.config\.json: clients.*\n){2}$/u)])
  expect(server.output.err).not.toContain('configuration_')
  const unchecked = await printed('reload', '--pid-file', pidFile, '--no-check')
  expect([unchecked.code, unchecked.err]).toEqual([
    1,
    expect.stringMatching(/^grantry: the configuration was not changed: .*clients.*\n$/u),
  ])
})

test('exits with 1 and names what needs a restart', async () => {
  const { home, pidFile } = await started()
  write(home, { trustedProxies: 1, metrics: false })
  expect(await printed('reload', '--pid-file', pidFile)).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('restart the server to change trustedProxies, metrics\n'),
  })
})

test('a stale pid file reaches no other process, and does not prevent a start', async () => {
  const { home, pidFile, server } = await started()
  server.process.kill('SIGKILL')
  await server.ended
  // The id now belongs to a stranger: this process, which a SIGHUP would end.
  writeFileSync(pidFile, `${process.pid}\n`)
  const absent = { code: 1, out: '', err: expect.stringContaining(`no server uses ${pidFile}; start one`) }
  expect(await printed('reload', '--pid-file', pidFile)).toMatchObject(absent)
  const next = await start({ home, args: ['--pid-file', pidFile] })
  expect(readFileSync(pidFile, 'utf8')).toBe(`${next.process.pid}\n`)
  expect(await printed('reload', '--pid-file', pidFile)).toMatchObject({ code: 0 })
})

test('two servers cannot use one pid file, and a link at its place is not followed', async () => {
  const { home, pidFile, server } = await started()
  const second = await printed(
    'serve',
    '--port',
    '0',
    '--config',
    join(home, 'grantry.config.json'),
    '--pid-file',
    pidFile,
  )
  expect([second.code, second.err]).toEqual([
    1,
    expect.stringContaining(`process ${server.process.pid} uses ${pidFile}; stop it first`),
  ])
  const [precious, link] = [join(home, 'precious'), join(home, 'link.pid')]
  writeFileSync(precious, 'kept')
  symlinkSync(precious, link)
  await start({ home, args: ['--pid-file', link] })
  expect([readFileSync(precious, 'utf8'), lstatSync(link).isSymbolicLink()]).toEqual(['kept', false])
})

test('a pid file that cannot be written prevents the start', async () => {
  const home = newHome()
  write(home)
  const configuration = join(home, 'grantry.config.json')
  for (const pidFile of [join(home, 'missing', 'grantry.pid'), join(home, 'x'.repeat(200))]) {
    const { code, err } = await printed('serve', '--port', '0', '--config', configuration, '--pid-file', pidFile)
    expect([code, err]).toEqual([1, expect.stringContaining('--pid-file: cannot write')])
  }
})

test('a variable that only the server has: the server checks', async () => {
  const clients = [
    {
      clientId: 'web',
      secrets: [{ sha256: '$' + '{GRANTRY_TEST_HASH}' }],
      grantTypes: ['client_credentials'],
      scopes: ['api1'],
    },
  ]
  const { pidFile } = await started({ clients, scopes: [{ name: 'api1' }] }, { GRANTRY_TEST_HASH: sha256Of('secret') })
  expect(await printed('reload', '--pid-file', pidFile)).toMatchObject({
    code: 1,
    err: expect.stringContaining('GRANTRY_TEST_HASH'),
  })
  expect(await printed('reload', '--pid-file', pidFile, '--no-check')).toMatchObject({ code: 0 })
})

test('a pipe without a writer, at the place of the file, is refused and blocks no later reload', async () => {
  const { home, pidFile } = await started()
  const file = join(home, 'grantry.config.json')
  rmSync(file)
  execFileSync('mkfifo', [file])
  const { code, err } = await printed('reload', '--pid-file', pidFile, '--no-check')
  expect([code, err]).toEqual([1, `grantry: the configuration was not changed: ${file}: it is not a file\n`])
  rmSync(file)
  write(home)
  expect(await printed('reload', '--pid-file', pidFile)).toMatchObject({ code: 0 })
})

test('code that has changed needs a restart: a plugin, and a configuration that is a module', async () => {
  const { home, pidFile, server } = await started()
  const plugin = join(home, 'plugin.mjs')
  writeFileSync(plugin, 'export default []')
  write(home, { plugins: ['./plugin.mjs'] })
  expect(await printed('reload', '--pid-file', pidFile)).toMatchObject({ code: 0 })
  writeFileSync(plugin, 'export default []; // changed')
  expect(await printed('reload', '--pid-file', pidFile, '--no-check')).toMatchObject({
    code: 1,
    err: expect.stringContaining('plugins[0]: cannot load ./plugin.mjs: its code has changed; restart the server'),
  })
  server.process.kill('SIGTERM')
  await server.ended
  const module = join(home, 'grantry.config.mjs')
  writeFileSync(
    module,
    "export default { issuer: 'https://id.example.com', clients: [], storage: { driver: 'memory' } }",
  )
  await start({ home, args: ['--config', module, '--pid-file', pidFile] })
  expect(await printed('reload', '--pid-file', pidFile)).toMatchObject({
    code: 1,
    err: expect.stringContaining('a process loads a module once; restart the server'),
  })
})
