// The log of `grantry serve`, in a real process whose output is piped, and in the process of the test.

import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { isLifecycle, type LogLine, parseLog } from '../observability/log-lines.ts'
import { type ServerProcess, serverProcesses } from '../observability/server-process.ts'
import { printed, printedWith } from './printed.ts'

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

const json = ['--log-format', 'json'] as const

/** Runs a server in this process. Returns its log after the requests, or of a failed start. */
async function logOf(
  home: string,
  args: readonly string[],
  { code = 0, requests }: { code?: number; requests?: (url: string) => Promise<unknown> } = {},
): Promise<string> {
  const line = ['serve', '--port', '0', '--config', join(home, 'grantry.config.json'), ...args]
  const ended = await printedWith({ ...(requests && { whileListening: requests }) }, ...line)
  expect([ended.code, ended.out]).toEqual([code, ''])
  return ended.err
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
  )

  test('logs the warnings of the banner', async () => {
    const lines = parseLog(await logOf(configured({ issuer: 'http://127.0.0.1:1' }), json))
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', type: 'startup_warning', reason: 'issuer_port_mismatch' }),
    )
  })

  test('logs the route of each request', async () => {
    const requests = async (url: string) => {
      await fetch(`${url}/.well-known/jwks?x=1`)
      await fetch(`${url}/nowhere/at/all`)
    }
    const lines = parseLog(await logOf(configured(), json, { requests })).filter(({ status }) => status !== undefined)
    expect(lines.map(({ msg }) => msg)).toEqual([
      'GET /.well-known/jwks 200',
      expect.stringMatching(/^GET unmatched 404/u),
    ])
    expect(lines[0]).toMatchObject({ 'http.route': '/.well-known/jwks' })
  })
})

describe('--log-level and --log-format', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  test('override the configuration', async () => {
    const home = configured({ log: { level: 'info', format: 'text' } })
    const lines = parseLog(
      await logOf(home, ['--log-level', 'debug', ...json], { requests: (url) => fetch(`${url}/health/live`) }),
    )
    expect(lines).toContainEqual(expect.objectContaining({ level: 'debug', msg: 'GET /health/live 200' }))
  })

  test('can be set in the configuration, also with a variable', async () => {
    vi.stubEnv('GRANTRY_LEVEL', 'info')
    const home = configured({ log: { level: '$' + '{GRANTRY_LEVEL}', format: 'text' } })
    const server = await start({ home })
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
  })
})

describe('a failed start is one log line at every level', () => {
  test.each(['info', 'silent'])('an invalid configuration at %s', async (level) => {
    const home = configured({ clients: 5 })
    const lines = parseLog(await logOf(home, ['--log-level', level, ...json], { code: 1 }))
    expect(lines).toMatchObject([
      {
        level: 'error',
        type: 'server_failed',
        msg: expect.stringMatching(/grantry\.config\.json: clients must be/u),
      },
    ])
  })

  test('a busy port', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    const failed = await start({ home: configured(), args: ['--port', String(port)] }).catch(String)
    await new Promise((resolve) => taken.close(resolve))
    expect(parseLog(String(failed).split('\n').slice(1).join('\n'))).toMatchObject([
      { level: 'error', type: 'server_failed', msg: expect.stringContaining(`port ${port} on`), reason: 'EADDRINUSE' },
    ])
  })

  test('an unavailable store', async () => {
    const storage = { driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.2 }
    const lines = parseLog(await logOf(configured({ storage }), json, { code: 1 }))
    expect(lines.at(-1)).toMatchObject({ level: 'error', type: 'server_failed', msg: expect.stringMatching(/redis/iu) })
  })

  test('an unusable storage directory', async () => {
    const home = configured({ storage: { driver: 'filesystem', directory: './file/data' } })
    writeFileSync(join(home, 'file'), '')
    expect(parseLog(await logOf(home, json, { code: 1 })).at(-1)).toMatchObject({
      level: 'error',
      type: 'server_failed',
    })
  })

  test('as text it starts with the name of the program', async () => {
    const home = configured({ clients: 5 })
    expect(await logOf(home, ['--log-format', 'text'], { code: 1 })).toMatch(
      /^grantry: [^\n]+clients must be [^\n]+\n$/u,
    )
  })
})

test('the demo logs that it is one, and the cause of a failed request once', async () => {
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
  server.process.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  // The sweep of expired items can find the same obstacle. Its warning is one of Node.js, which is not JSON.
  const lines = parseLog(server.output.err.replaceAll(/^\((?:node:\d+\)|Use `node) .*\n/gmu, ''))
  expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', type: 'startup_warning', reason: 'demo' }))
  // The first request: the server compares its clients with those of before.
  const causes = lines.filter(({ reason }) => reason === 'clients_not_compared')
  expect(causes).toMatchObject([
    { type: 'unhandled_failure', level: 'error', 'exception.message': expect.stringContaining('ENOTDIR') },
  ])
  const requestId = response.headers.get('x-request-id')
  const ends = lines.filter((line) => line.requestId === requestId && line.level === 'error')
  expect(ends).toMatchObject([{ type: 'endpoint_failed', reason: 'tenant_unavailable', status: 503 }])
})

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
