// SIGHUP to a real server: it reads its configuration again. The cases are those that operators of other servers have
// reported: a signal that is lost during a reload (fluent-bit 8457), one during the start that ends the process
// (prometheus 14917), old values that are used silently (vault 3990), and an error that is not reported (h2o 770).
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { basic, sha256Of } from '@grantry/testing'
import { expect, test } from 'vitest'
import { type LogLine, parseLog } from '../observability/log-lines.ts'
import { type ServerProcess, serverProcesses } from '../observability/server-process.ts'
import { eventually } from '../support/eventually.ts'

const { newHome, start } = serverProcesses()

const client = (clientId: string, secret = `${clientId}-secret`) => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
})

/** At one moment: the server may be reading. */
function write(home: string, more: object): void {
  const file = join(home, 'grantry.config.json')
  writeFileSync(
    `${file}.new`,
    JSON.stringify({
      issuer: 'https://id.example.com',
      storage: { driver: 'memory' },
      clients: [client('first')],
      scopes: [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }],
      ...more,
    }),
  )
  renameSync(`${file}.new`, file)
}

async function status(server: ServerProcess, clientId: string, secret = `${clientId}-secret`): Promise<number> {
  const response = await fetch(`${server.address}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic([clientId, secret]) },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
  })
  return response.status
}

const linesOf = ({ output }: ServerProcess): readonly LogLine[] =>
  parseLog(output.err.slice(0, output.err.lastIndexOf('\n') + 1)).filter(({ type }) =>
    type.startsWith('configuration_'),
  )

async function reload(server: ServerProcess, earlier = 0): Promise<LogLine> {
  server.process.kill('SIGHUP')
  await eventually(async () => expect(linesOf(server).length).toBeGreaterThan(earlier))
  return linesOf(server).at(-1) as LogLine
}

test('a client that is added to the file gets a token, without a restart', async () => {
  const home = newHome()
  write(home, {})
  const server = await start({ home })
  expect(await status(server, 'second')).toBe(401)
  write(home, { clients: [client('first'), client('second')] })
  expect(await reload(server)).toMatchObject({ level: 'info', type: 'configuration_reloaded' })
  expect([await status(server, 'first'), await status(server, 'second')]).toEqual([200, 200])
  server.process.kill('SIGTERM')
  expect(await server.ended).toBe(0)
})

test('a configuration that a start would refuse changes nothing, and the log has one line with the reason', async () => {
  const home = newHome()
  write(home, {})
  const server = await start({ home })
  const refusals = [
    ['{ "issuer": "https://id.example.com", "clients": [', 'line 1, column 51: a closing bracket ] is missing'],
    ['{}', 'issuer is required'],
    [
      JSON.stringify({ clients: [client('first'), { ...client('second'), scopes: ['none'] }] }),
      'clients: second has the scope none',
    ],
    [JSON.stringify({ keys: { jwks: 'missing.json' } }), 'keys.jwks'],
    [JSON.stringify({ users: [{ sub: '1', username: 'alice', password: 'alice-secret' }] }), 'users[0] ("1").password'],
  ] as const
  for (const [index, [text, reason]] of refusals.entries()) {
    const isWhole = index < 2
    if (isWhole) writeFileSync(join(home, 'grantry.config.json'), text)
    else write(home, JSON.parse(text))
    const line = await reload(server, index)
    expect(line).toMatchObject({ level: 'error', type: 'configuration_refused', reason: 'invalid' })
    expect(line.msg).toContain(`the configuration was not changed: ${join(home, 'grantry.config.json')}: `)
    expect(line.msg).toContain(reason)
    expect(await status(server, 'first')).toBe(200)
  }
  expect(server.output.err).not.toContain('alice-secret')
  const page = await (await fetch(`${server.address}/metrics`)).text()
  expect(page).toContain(`grantry_configuration_reloads_total{outcome="refused"} ${refusals.length}`)
})

test('every member that needs a restart is named in one line, and nothing changes', async () => {
  const home = newHome()
  write(home, {})
  const server = await start({ home })
  write(home, {
    issuer: 'https://other.example.com',
    storage: { driver: 'filesystem' },
    trustedProxies: 1,
    maxRequests: 10,
    maxBodies: 10,
    maxConnections: 10,
    clientCertificate: { header: 'x-client-cert', format: 'pem', proxies: ['10.0.0.1'] },
    metrics: false,
    log: { format: 'text' },
    clients: [client('second')],
  })
  const line = await reload(server)
  expect(line).toMatchObject({ type: 'configuration_refused', reason: 'restart_needed' })
  expect(line.msg).toMatch(
    /restart the server to change issuer, storage, trustedProxies, clientCertificate, maxRequests, maxBodies, maxConnections, metrics, log\.format$/u,
  )
  expect([await status(server, 'first'), await status(server, 'second')]).toEqual([200, 401])
})

test('variables in grantry.env and secrets in files are read again, and the log level changes', async () => {
  const home = newHome()
  const secret = join(home, 'secret')
  const environment = { GRANTRY_TEST_SECRET_FILE: secret }
  writeFileSync(join(home, 'grantry.env'), 'GRANTRY_TEST_ID=first\n')
  writeFileSync(secret, `${sha256Of('one')}\n`)
  const text = JSON.stringify(client('$' + '{GRANTRY_TEST_ID}')).replace(
    /"[\w+/=-]{40,}"/u,
    '"$${GRANTRY_TEST_SECRET}"',
  )
  write(home, { clients: [JSON.parse(text)] })
  const server = await start({ home, environment })
  expect(await status(server, 'first', 'one')).toBe(200)
  writeFileSync(join(home, 'grantry.env'), 'GRANTRY_TEST_ID=second\n')
  writeFileSync(secret, sha256Of('two'))
  write(home, { clients: [JSON.parse(text)], log: { level: 'debug' } })
  expect(await reload(server)).toMatchObject({ type: 'configuration_reloaded' })
  expect(await status(server, 'first', 'one')).toBe(401)
  expect(await status(server, 'second', 'two')).toBe(200)
  await fetch(`${server.address}/health/live`)
  await eventually(async () => expect(server.output.err).toContain('GET /health/live 200'))
})

test('a signal during the start neither ends the process nor is it lost', async () => {
  const home = newHome()
  // The module is loaded once, in the middle of the start.
  writeFileSync(
    join(home, 'signal.mjs'),
    "await new Promise((resolve) => { process.once('SIGHUP', resolve); process.kill(process.pid, 'SIGHUP') })\nexport default []\n",
  )
  write(home, { plugins: ['./signal.mjs'] })
  const server = await start({ home })
  await eventually(async () => expect(linesOf(server)).toMatchObject([{ type: 'configuration_reloaded' }]))
  expect(await status(server, 'first')).toBe(200)
})

test('a signal while the server stops changes nothing', async () => {
  const home = newHome()
  write(home, { shutdownDelay: 1 })
  const server = await start({ home })
  server.process.kill('SIGTERM')
  await eventually(async () => expect(server.output.err).toContain('server_stopping'))
  server.process.kill('SIGHUP')
  expect(await server.ended).toBe(0)
  expect(linesOf(server).filter(({ type }) => type === 'configuration_reloaded')).toEqual([])
})

test('a storm of signals ends with the newest configuration, and hurts no request', async () => {
  const home = newHome()
  write(home, {})
  const server = await start({ home })
  const statuses: number[] = []
  for (let round = 1; round <= 100; round += 1) {
    server.process.kill('SIGHUP')
    statuses.push(await status(server, 'first'))
  }
  write(home, { clients: [client('last')] })
  server.process.kill('SIGHUP')
  await eventually(async () => expect(await status(server, 'last')).toBe(200))
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(new Set(linesOf(server).map(({ type }) => type))).toEqual(new Set(['configuration_reloaded']))
  expect(linesOf(server).length).toBeLessThanOrEqual(101)
})
