import { readFileSync } from 'node:fs'
import type { Credentials } from '@grantry/testing'
import { expect } from 'vitest'
import { lastResort } from '../support/eventually.ts'
import { createFleet } from '../support/fleet.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { api, loginOf, settingClients, writeSetting } from '../support/server-setting.ts'

/**
 * Seconds of a storage operation, for a driver whose storage hangs. A busy machine is no outage: other operations must
 * not take that long. The core waits longer (`writeSetting`), so a response shows that the driver has given up.
 */
export const operationTimeout = 3

export interface ReceivedResponse {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: Readonly<Record<string, unknown>>
}

/** The tokens of one login. */
export interface LoginTokens {
  readonly client: Credentials
  readonly access: string
  readonly refresh: string
}

/** One real server, checked request by request. */
export interface RealServer {
  send(path: string, form: Readonly<Record<string, string>>, as: Credentials): Promise<ReceivedResponse>
  get(path: string, bearer?: string): Promise<ReceivedResponse>
  /** Resolves when it reports that it is ready. */
  ready(): Promise<void>
  /** Its complete output so far. */
  output(): string
  stop(): Promise<void>
}

/** @param directory its own, for its configuration and its log. */
export async function startRealServer(program: string, directory: string, storage: object): Promise<RealServer> {
  const port = await reservedPort()
  const configuration = writeSetting(directory, `http://127.0.0.1:${port}`, storage, 1)
  const fleet = createFleet({
    program,
    configuration,
    ports: [port],
    directory,
    environment: {},
  })
  fleet.start(port)
  try {
    await fleet.ready(port)
  } catch (error) {
    await fleet.killAll()
    throw error
  }
  async function request(path: string, init: RequestInit): Promise<ReceivedResponse> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      signal: AbortSignal.timeout(lastResort),
    })
    const text = await response.text()
    const body = text === '' ? {} : JSON.parse(text)
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body }
  }
  return {
    send: (path, form, as) =>
      request(path, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(as.join(':'))}` },
        body: new URLSearchParams(form),
      }),
    get: (path, bearer) =>
      request(path, { headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` } }),
    ready: () => fleet.ready(port),
    output: () => readFileSync(fleet.logs[0] ?? '', 'utf8'),
    stop: fleet.killAll,
  }
}

export const refresh = (server: RealServer, { client }: LoginTokens, token: string): Promise<ReceivedResponse> =>
  server.send('/connect/token', { grant_type: 'refresh_token', refresh_token: token }, client)

export async function logIn(server: RealServer, client: Credentials = settingClients[0]): Promise<LoginTokens> {
  const { status, body } = await server.send('/connect/token', loginOf(0), client)
  expect(status).toBe(200)
  return { client, access: String(body.access_token), refresh: String(body.refresh_token) }
}

/** Everything that needs the storage. */
export const storageRequests = (server: RealServer, tokens: LoginTokens) => ({
  refresh: () => refresh(server, tokens, tokens.refresh),
  'log-in': () => server.send('/connect/token', loginOf(0), tokens.client),
  introspection: () => server.send('/connect/introspect', { token: tokens.access }, api),
  revocation: () => server.send('/connect/revocation', { token: tokens.refresh }, tokens.client),
  userinfo: () => server.get('/connect/userinfo', tokens.access),
  'access token validation': () => server.get(`/connect/accesstokenvalidation?token=${tokens.access}`),
})

export const unavailable = {
  status: 503,
  retryAfter: expect.stringMatching(/^\d+$/u),
  body: { error: 'temporarily_unavailable' },
}

/** No response is wrong, nothing hangs, and the operator sees the outage. */
export async function expectOutage(server: RealServer, tokens: LoginTokens): Promise<void> {
  const expectResponse = async (name: string, response: Promise<ReceivedResponse>, expected: object) =>
    expect(await response, name).toMatchObject(expected)
  // Concurrently: while Redis is paused, each takes as long as its time limit.
  await Promise.all([
    ...Object.entries(storageRequests(server, tokens)).map(([name, send]) => expectResponse(name, send(), unavailable)),
    expectResponse('ready', server.get('/health/ready'), { status: 503 }),
    expectResponse('live', server.get('/health/live'), { status: 200 }),
  ])
}

/** Everything works as before, including the same refresh token; and a token revoked now is rejected. */
export async function expectService(server: RealServer, tokens: LoginTokens): Promise<void> {
  const requests = storageRequests(server, tokens)
  expect(await requests.introspection()).toMatchObject({ status: 200, body: { active: true } })
  expect(await requests.userinfo()).toMatchObject({ status: 200, body: { sub: '0' } })
  expect(await requests['access token validation']()).toMatchObject({ status: 200 })
  const refreshed = await requests.refresh()
  expect(refreshed).toMatchObject({ status: 200 })
  expect(await refresh(server, tokens, String(refreshed.body.refresh_token))).toMatchObject({ status: 200 })
  expect(await requests['log-in']()).toMatchObject({ status: 200 })
  expect(await requests.revocation()).toMatchObject({ status: 200 })
  expect(await requests.introspection()).toMatchObject({ status: 200, body: { active: false } })
  expect(await requests.refresh()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
}
