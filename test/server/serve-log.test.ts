// The complete log of `grantry serve`: a real process whose output is piped.

import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { isLifecycle, type LogLine, parseLog } from '../observability/log-lines.ts'
import { type ServerProcess, serverProcesses } from '../observability/server-process.ts'
import { printed } from './printed.ts'

const { newHome, start } = serverProcesses()

/** Creates a directory with a configuration that includes `more`. */
function configured(more: object = {}): string {
  const home = newHome()
  const storage = { driver: 'memory' }
  const configuration = { issuer: 'https://id.example.com', storage, clients: [], ...more }
  writeFileSync(join(home, 'grantry.config.json'), JSON.stringify(configuration))
  return home
}

async function stopped(server: ServerProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<readonly LogLine[]> {
  server.process.kill(signal)
  expect(await server.ended).toBe(0)
  return parseLog(server.output.err)
}

/** Returns the standard error of a server that does not start. */
const failure = async (home: string, ...args: readonly string[]): Promise<string> => {
  const started = start({ home, args }).catch((error: unknown) => String(error))
  const message = await started
  if (typeof message !== 'string') throw new Error('the server started')
  return message.slice(message.indexOf('\n') + 1)
}

describe('without a terminal', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'logs that it listens, and on %s that it is stopping and has stopped',
    async (signal) => {
      const home = configured()
      const server = await start({ home })
      const lines = await stopped(server, signal)
      expect(lines.filter(isLifecycle)).toMatchObject([
        {
          level: 'info',
          type: 'server_listening',
          msg: `listening on ${server.address.slice('http://'.length)} for https://id.example.com`,
          'server.address': '127.0.0.1',
          'server.port': Number(new URL(server.address).port),
          'service.version': '0.0.0',
          issuer: 'https://id.example.com',
          configuration: join(home, 'grantry.config.json'),
        },
        { level: 'info', type: 'server_stopping', msg: `stopping on ${signal}`, signal },
        { level: 'info', type: 'server_stopped', msg: `stopped on ${signal}`, signal },
      ])
      expect(server.output.out).toBe('')
    },
    60_000,
  )

  test('logs the warnings of the banner', async () => {
    const home = configured({ issuer: 'http://127.0.0.1:1' })
    const lines = await stopped(await start({ home }))
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', type: 'startup_warning', reason: 'issuer_port_mismatch' }),
    )
    const demo = await stopped(await start())
    expect(demo).toContainEqual(expect.objectContaining({ level: 'warn', type: 'startup_warning', reason: 'demo' }))
  }, 60_000)

  test('logs the route of each request', async () => {
    const server = await start()
    await fetch(`${server.address}/.well-known/jwks?x=1`)
    await fetch(`${server.address}/nowhere/at/all`)
    const lines = (await stopped(server)).filter(({ status }) => status !== undefined)
    expect(lines.map(({ msg }) => msg)).toEqual([
      'GET /.well-known/jwks 200',
      expect.stringMatching(/^GET unmatched 404/u),
    ])
    expect(lines[0]).toMatchObject({ 'http.route': '/.well-known/jwks' })
  }, 60_000)
})

describe('--log-level and --log-format', () => {
  test('override the configuration', async () => {
    const home = configured({ log: { level: 'info', format: 'text' } })
    const server = await start({ home, args: ['--log-level', 'debug', '--log-format', 'json'] })
    await fetch(`${server.address}/health/live`)
    const lines = await stopped(server)
    expect(lines).toContainEqual(expect.objectContaining({ level: 'debug', msg: 'GET /health/live 200' }))
  }, 60_000)

  test('can be set in the configuration, also with a variable', async () => {
    const home = configured({ log: { level: '$' + '{GRANTRY_LEVEL}', format: 'text' } })
    const server = await start({ home, environment: { GRANTRY_LEVEL: 'info' } })
    await fetch(`${server.address}/nowhere`)
    server.process.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    const lines = server.output.err.split('\n').filter((line) => line.includes(' info '))
    expect(lines.map((line) => line.replace(/^\S{24} info {2}(\S+) .*/u, '$1'))).toEqual([
      'listening',
      'GET',
      'stopping',
      'stopped',
    ])
  }, 60_000)
})

describe('a failed start is one log line at every level', () => {
  test.each(['info', 'silent'])(
    'an invalid configuration at %s',
    async (level) => {
      const home = configured({ clients: 5 })
      const lines = parseLog(await failure(home, '--log-level', level))
      expect(lines).toMatchObject([
        {
          level: 'error',
          type: 'server_failed',
          msg: expect.stringMatching(/grantry\.config\.json: clients must be/u),
        },
      ])
    },
    60_000,
  )

  test('a busy port', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    const lines = parseLog(await failure(configured(), '--port', String(port)))
    await new Promise((resolve) => taken.close(resolve))
    expect(lines).toMatchObject([
      { level: 'error', type: 'server_failed', msg: expect.stringContaining(`port ${port} on`), reason: 'EADDRINUSE' },
    ])
  }, 60_000)

  test('an unavailable store', async () => {
    const storage = { driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.2 }
    const text = await failure(configured({ storage }))
    const lines = parseLog(text)
    expect(lines.at(-1)).toMatchObject({ level: 'error', type: 'server_failed', msg: expect.stringMatching(/redis/iu) })
  }, 60_000)

  test('an unusable storage directory', async () => {
    const home = configured({ storage: { driver: 'filesystem', directory: './file/data' } })
    writeFileSync(join(home, 'file'), '')
    expect(parseLog(await failure(home)).at(-1)).toMatchObject({ level: 'error', type: 'server_failed' })
  }, 60_000)

  test('as text it starts with the name of the program', async () => {
    const home = configured({ clients: 5 })
    expect(await failure(home, '--log-format', 'text')).toMatch(/^grantry: [^\n]+clients must be [^\n]+\n$/u)
  }, 60_000)
})

test('logs the cause of a failed request once', async () => {
  const home = newHome()
  const server = await start({ home })
  const data = join(home, '.grantry')
  renameSync(data, `${data}-away`)
  writeFileSync(data, '')
  const response = await fetch(`${server.address}/connect/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('demo:demo-secret')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
  })
  rmSync(data)
  renameSync(`${data}-away`, data)
  expect(response.status).toBe(503)
  const lines = await stopped(server)
  const requestId = response.headers.get('x-request-id')
  const told = lines.filter((line) => line.requestId === requestId && line.level === 'error')
  expect(told).toMatchObject([
    { type: 'unhandled_failure', reason: 'storage_failed', 'exception.message': expect.stringContaining('ENOTDIR') },
    { type: 'endpoint_failed', msg: 'POST /connect/token 503 storage_failed', status: 503 },
  ])
}, 60_000)

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
}, 60_000)

describe('with terminals', () => {
  const isTTY = (stream: 'stdout' | 'stderr', value: boolean): void => {
    Object.defineProperty(process[stream], 'isTTY', { value, configurable: true })
  }
  const before = { stdout: process.stdout.isTTY, stderr: process.stderr.isTTY }
  afterEach(() => {
    isTTY('stdout', before.stdout)
    isTTY('stderr', before.stderr)
  })
  const serve = async () => {
    const home = configured({ issuer: 'http://127.0.0.1:1' })
    const { out, err } = await printed('serve', '--port', '0', '--config', join(home, 'grantry.config.json'))
    return { banner: out, log: err.replaceAll(/^\S{24} /gmu, '') }
  }

  test('shows the banner, and does not repeat it in a log on the same terminal', async () => {
    isTTY('stdout', true)
    isTTY('stderr', true)
    const { banner, log } = await serve()
    expect(banner).toContain('issuer     http://127.0.0.1:1\n')
    expect(banner).toContain('The issuer names port 1')
    expect(log).toBe('info  stopping on SIGTERM signal=SIGTERM\ninfo  stopped on SIGTERM signal=SIGTERM\n')
  })

  test('logs the facts and warnings of the banner if the log goes elsewhere', async () => {
    isTTY('stdout', true)
    isTTY('stderr', false)
    const { banner, log } = await serve()
    expect(banner).toContain('Grantry is listening on')
    expect(log).toMatch(/^info {2}listening on /mu)
    expect(log).toMatch(/^warn {2}The issuer names port 1/mu)
  })

  test('shows no banner if standard output is not a terminal', async () => {
    isTTY('stdout', false)
    isTTY('stderr', true)
    const { banner, log } = await serve()
    expect(banner).toBe('')
    expect(log).toMatch(/^info {2}listening on /mu)
  })
})
