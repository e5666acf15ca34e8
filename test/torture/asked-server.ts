import { readFileSync } from 'node:fs'
import type { Credentials } from '@grantry/core/testing'
import { expect } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { createFleet } from './fleet.ts'
import { createLedger } from './ledger.ts'
import { api, loginOf, torturedClients, writeSetting } from './setting.ts'

/**
 * Milliseconds that a response may take when one storage operation gets 500: generous, because the machine may be busy,
 * and still less than the 5 s after which the core gives up on a driver.
 */
const promptly = 4000

export interface Said {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: Readonly<Record<string, unknown>>
}

/** The tokens of one login. */
export interface Held {
  readonly client: Credentials
  readonly access: string
  readonly refresh: string
}

/** One real server, checked request by request. */
export interface AskedServer {
  /** Rejects when there is no response in time. */
  ask(path: string, form: Readonly<Record<string, string>>, as: Credentials): Promise<Said>
  get(path: string, bearer?: string): Promise<Said>
  /** Resolves when it reports that it is ready. */
  ready(): Promise<void>
  /** Its complete output so far. */
  output(): string
  stop(): Promise<void>
}

/** @param directory its own, for its configuration and its log. */
export async function startAskedServer(program: string, directory: string, storage: object): Promise<AskedServer> {
  const port = await freePort()
  const configuration = writeSetting(directory, `http://127.0.0.1:${port}`, storage, 1)
  const fleet = createFleet({
    program,
    configuration,
    ports: [port],
    directory,
    environment: {},
    ledger: createLedger(),
  })
  fleet.start(port)
  try {
    await fleet.ready(port)
  } catch (error) {
    await fleet.killAll()
    throw error
  }
  async function said(path: string, init: RequestInit): Promise<Said> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, signal: AbortSignal.timeout(promptly) })
    const text = await response.text()
    const body = text === '' ? {} : JSON.parse(text)
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body }
  }
  return {
    ask: (path, form, as) =>
      said(path, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(as.join(':'))}` },
        body: new URLSearchParams(form),
      }),
    get: (path, bearer) => said(path, { headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` } }),
    ready: () => fleet.ready(port),
    output: () => readFileSync(fleet.logs[0] ?? '', 'utf8'),
    stop: fleet.killAll,
  }
}

export const refresh = (server: AskedServer, { client }: Held, token: string): Promise<Said> =>
  server.ask('/connect/token', { grant_type: 'refresh_token', refresh_token: token }, client)

export async function logIn(server: AskedServer, client: Credentials = torturedClients[0]): Promise<Held> {
  const { status, body } = await server.ask('/connect/token', loginOf(0), client)
  expect(status).toBe(200)
  return { client, access: String(body.access_token), refresh: String(body.refresh_token) }
}

/** Everything that needs the storage. */
export const questions = (server: AskedServer, held: Held) => ({
  refresh: () => refresh(server, held, held.refresh),
  'log-in': () => server.ask('/connect/token', loginOf(0), held.client),
  introspection: () => server.ask('/connect/introspect', { token: held.access }, api),
  revocation: () => server.ask('/connect/revocation', { token: held.refresh }, held.client),
  userinfo: () => server.get('/connect/userinfo', held.access),
  'access token validation': () => server.get(`/connect/accesstokenvalidation?token=${held.access}`),
})

export const unavailable = {
  status: 503,
  retryAfter: expect.stringMatching(/^\d+$/u),
  body: { error: 'temporarily_unavailable' },
}

/** No response is wrong, nothing hangs, and the operator sees the outage. */
export async function expectOutage(server: AskedServer, held: Held): Promise<void> {
  for (const [name, ask] of Object.entries(questions(server, held)))
    expect(await ask(), name).toMatchObject(unavailable)
  expect(await server.get('/health/ready')).toMatchObject({ status: 503 })
  expect(await server.get('/health/live')).toMatchObject({ status: 200 })
}

/** Everything works as before, including the same refresh token; and a token revoked now is rejected. */
export async function expectService(server: AskedServer, held: Held): Promise<void> {
  const asked = questions(server, held)
  expect(await asked.introspection()).toMatchObject({ status: 200, body: { active: true } })
  expect(await asked.userinfo()).toMatchObject({ status: 200, body: { sub: '0' } })
  expect(await asked['access token validation']()).toMatchObject({ status: 200 })
  const refreshed = await asked.refresh()
  expect(refreshed).toMatchObject({ status: 200 })
  expect(await refresh(server, held, String(refreshed.body.refresh_token))).toMatchObject({ status: 200 })
  expect(await asked['log-in']()).toMatchObject({ status: 200 })
  expect(await asked.revocation()).toMatchObject({ status: 200 })
  expect(await asked.introspection()).toMatchObject({ status: 200, body: { active: false } })
  expect(await asked.refresh()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
}
