// What `grantry serve` logs when host code ends the process.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isLifecycle, parseLog } from '../observability/log-lines.ts'
import { serverProcesses } from '../observability/server-process.ts'
import { until } from '../support/eventually.ts'

const { newHome, start } = serverProcesses()

test('logs the stack trace if host code throws outside of a request and ends the process', async () => {
  const home = newHome()
  const crash = "process.on('SIGUSR2', () => { Promise.reject(new RangeError('a stray failure')) })"
  const configuration = JSON.stringify({ issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [] })
  writeFileSync(join(home, 'grantry.config.mjs'), `${crash}\nexport default ${configuration}`)
  const server = await start({ home })
  server.process.kill('SIGUSR2')
  expect(await server.ended).toBe(1)
  const line = server.output.err.split('\n').find((text) => text.includes('"server_crashed"'))
  expect(JSON.parse(line ?? 'null')).toMatchObject({
    level: 'error',
    'event.name': 'server_crashed',
    msg: 'unhandledRejection: a stray failure',
    'exception.type': 'RangeError',
    'exception.message': 'a stray failure',
    'exception.stacktrace': expect.stringContaining('grantry.config.mjs'),
  })
})

test.each([
  ["{ type: 'StrayWarning', code: 'STRAY1' }", 'STRAY1'],
  ["'StrayWarning'", 'StrayWarning'],
])('logs a warning of host code as a line of the log: %s', async (kind, type) => {
  const home = newHome()
  const warn = `process.on('SIGUSR2', () => process.emitWarning('a stray\\nwarning', ${kind}))`
  const configuration = JSON.stringify({ issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [] })
  writeFileSync(join(home, 'grantry.config.mjs'), `${warn}\nexport default ${configuration}`)
  const server = await start({ home })
  server.process.kill('SIGUSR2')
  await until('the warning is logged', () => server.output.err.includes('a stray'))
  server.process.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  expect(parseLog(server.output.err).filter(isLifecycle)).toContainEqual(
    expect.objectContaining({ level: 'warn', type: 'server_warned', msg: 'a stray\nwarning', reason: type }),
  )
})

test('logs the events of a request that is open when the process crashes', async () => {
  const home = newHome()
  const secret = createHash('sha256').update('a secret').digest('base64')
  const client = `{ clientId: 'web', secrets: [{ sha256: '${secret}' }], grantTypes: ['password'], scopes: ['openid'] }`
  const authenticate = "() => { Promise.reject(new RangeError('a stray failure')); return new Promise(() => {}) }"
  writeFileSync(
    join(home, 'grantry.config.mjs'),
    `export default { issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [${client}],
      users: { authenticate: ${authenticate}, isActive: () => true, claims: () => ({}) } }`,
  )
  const server = await start({ home })
  const request = fetch(`${server.address}/connect/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('web:a secret')}` },
    body: new URLSearchParams({ grant_type: 'password', username: 'alice', password: 'x', scope: 'openid' }),
  })
  await expect(request).rejects.toThrow('fetch failed')
  expect(await server.ended).toBe(1)
  const lines = server.output.err.split('\n').filter((text) => text.startsWith('{'))
  const names = lines.map((text) => JSON.parse(text)['event.name'])
  expect(names.filter((name) => !['startup_warning', 'server_listening'].includes(name))).toEqual([
    'server_crashed',
    'client_authentication_succeeded',
  ])
})
