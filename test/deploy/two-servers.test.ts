import { scryptSync } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basic, sha256Of } from '@grantry/testing'
import { parse as parseJson } from 'jsonc-parser'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { until } from '../support/eventually.ts'
import { pause } from '../support/pause.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { type ComposedRedis, startComposedRedis } from './composed-redis.ts'
import { root, singleFile } from './single-file.ts'
import { type StartedServer, startServer } from './started-server.ts'

// The setup of compose.yaml as processes: Redis with the same command, two servers with the same file and configuration,
// and a proxy.

// Each wait reports what it was waiting for.

/** Milliseconds between two requests of a client, to limit the load on the machine. */
const pace = 40

const user = { username: 'alice', password: 'alice-password' }
/** The cheapest allowed hash: the password is not under test. */
const hash = hashOf(user.password)

function hashOf(password: string): string {
  const salt = Buffer.from('salt of the test')
  const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  const derived = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 })
  return `$scrypt$ln=10,r=8,p=1$${unpadded(salt)}$${unpadded(derived)}`
}

/** Adds a client and a user to the configuration. Without a retry window, a second redemption is always a replay. */
async function configuration(): Promise<string> {
  const written = parseJson(await readFile(`${root}/deploy/grantry.config.json`, 'utf8'))
  const client = {
    clientId: 'test',
    secrets: [{ sha256: sha256Of('test-secret') }],
    grantTypes: ['password', 'refresh_token', 'client_credentials'],
    scopes: ['openid', 'offline_access', 'api1'],
    refreshToken: { retryWindow: 0 },
  }
  const users = [{ sub: '1', username: user.username, password: hash }]
  return JSON.stringify({ ...written, clients: [...written.clients, client], users })
}

interface ReceivedResponse {
  readonly status: number
  readonly body: Readonly<Record<string, string>>
}

async function token(url: string, fields: Readonly<Record<string, string>>): Promise<ReceivedResponse> {
  const response = await fetch(`${url}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic(['test', 'test-secret']) },
    body: new URLSearchParams(fields),
  })
  return { status: response.status, body: await response.json() }
}

const logIn = (url: string): Promise<ReceivedResponse> =>
  token(url, { grant_type: 'password', ...user, scope: 'openid offline_access' })

const refresh = (url: string, refreshToken = ''): Promise<ReceivedResponse> =>
  token(url, { grant_type: 'refresh_token', refresh_token: refreshToken })

const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sends a request from another loopback address than the proxy. */
function fromElsewhere(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(
      `${url}/connect/token`,
      { method: 'POST', headers: { ...form, ...headers }, localAddress: '127.0.0.2' },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    asked.once('error', reject)
    asked.end('grant_type=client_credentials')
  })
}

describeWithRedis('Redis, two servers and a proxy, as in compose.yaml', () => {
  let directory: string
  let redis: ComposedRedis
  let servers: StartedServer[] = []
  let proxy: Balancer

  beforeAll(async () => {
    const program = await singleFile()
    directory = await mkdtemp(join(tmpdir(), 'grantry-compose-'))
    const compose = parseYaml(await readFile(`${root}/deploy/compose.yaml`, 'utf8'), { merge: true })
    redis = await startComposedRedis(compose.services.redis.command, directory)
    const file = join(directory, 'grantry.config.json')
    const keySecret = join(directory, 'key_secret')
    await Promise.all([
      writeFile(file, await configuration()),
      writeFile(keySecret, 'for the test only, and longer than thirty-two characters\n'),
    ])
    const environment = {
      ...compose.services['grantry-1'].environment,
      GRANTRY_HOST: 'id.example.com',
      GRANTRY_REDIS_URL: redis.url,
      GRANTRY_REDIS_PASSWORD_FILE: redis.passwordFile,
      GRANTRY_KEY_SECRET_FILE: keySecret,
      GRANTRY_CLIENT_SHA256: sha256Of('example-secret'),
    }
    const start = () => startServer([process.execPath, program], { cwd: directory, environment })
    servers = await Promise.all([start(), start()])
    proxy = await startBalancer(servers.map(({ url }) => url))
  })

  afterAll(async () => {
    await proxy?.stop()
    for (const server of servers) server.signal('SIGKILL')
    await Promise.all(servers.map(({ ended }) => ended))
    await redis?.stop()
    await rm(directory, { recursive: true, force: true })
  })

  const urlOf = (index: number): string => servers[index]?.url ?? ''

  test('Redis persists data, evicts nothing, and requires the password', async () => {
    expect(await redis.config('maxmemory-policy')).toBe('noeviction')
    expect(await redis.config('appendonly')).toBe('yes')
    expect(await redis.config('requirepass')).not.toBe('')
  })

  test('a token from one server is valid on the other', async () => {
    const { body } = await logIn(urlOf(0))
    const authorization = `Bearer ${body.access_token}`
    const userinfo = await fetch(`${urlOf(1)}/connect/userinfo`, { headers: { authorization } })
    expect(await userinfo.json()).toEqual({ sub: '1' })
  })

  test('a refresh token from one server works on the other, and only once with concurrent requests to both', async () => {
    const { body } = await logIn(urlOf(0))
    const next = await refresh(urlOf(1), body.refresh_token)
    expect(next.status).toBe(200)
    const racers = Array.from({ length: 10 }, (_, index) => refresh(urlOf(index % 2), next.body.refresh_token))
    const statuses = (await Promise.all(racers)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array(9).fill(400)])
  })

  test('the log has the real client address, even if the client sends X-Forwarded-For', async () => {
    expect(await fromElsewhere(proxy.url, { 'x-forwarded-for': '203.0.113.9' })).toBe(401)
    const log = (): string => servers.map((server) => server.output().err).join('')
    await until('the refusal is in the log', () => log().includes('"client.address":"127.0.0.2"'))
    expect(log()).not.toContain('203.0.113.9')
  })

  test('a server that is stopped leaves no request without a response', async () => {
    const [first] = servers as [StartedServer]
    const failures: unknown[] = []
    let over = false
    const client = async (): Promise<void> => {
      let { body } = await logIn(proxy.url)
      while (!over) {
        const response = await refresh(proxy.url, body.refresh_token)
        if (response.status !== 200) {
          failures.push(response)
          return
        }
        body = response.body
        await pause(pace)
      }
    }
    const load = Promise.all(Array.from({ length: 4 }, client))
    const sent = (index: number): number => proxy.sent.get(urlOf(index)) ?? 0
    const before = sent(0)
    await until('both servers get requests', () => sent(0) > before + 20)
    const code = await first.stop()
    const after = sent(1)
    await until('the other server gets all requests', () => sent(1) > after + 20)
    over = true
    await load
    expect(code).toBe(0)
    expect(failures).toEqual([])
    // It became unready first, and closed its port afterwards.
    expect(proxy.health.get(urlOf(0))?.slice(0, 3)).toEqual([200, 503, 0])
    expect(proxy.health.get(urlOf(1))).toEqual([200])
  })

  test('Redis receives the signal and shuts down cleanly', async () => {
    expect(await redis.stop()).toBe(0)
    expect(redis.program.output().out).toContain('Redis is now ready to exit')
  })
})
