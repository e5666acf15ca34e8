/**
 * Attack: an attacker registers clients whose `jwksUri` is on hosts that accept connections and never respond, and sends
 * thousands of small requests in their names. Each waits for the keys, until all places of the server are taken. No
 * credentials are needed: an assertion is refused only after the keys have arrived.
 */
import { type RunningServer, serve } from '@grantry/adapters/node'
import type { FetchKeys } from '@grantry/plugins/client-assertion'
import { basic, sha256Of } from '@grantry/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { assertionType, claims, client, createKey, setUp, sign, tokenEndpoint } from '../client-assertion/assertions.ts'
import { eventually } from '../support/eventually.ts'

const hosts = Array.from({ length: 6 }, (_, index) => `hung-${index}`)
const honestKey = await createKey('ES256', { kid: 'honest' })
const uriOf = (id: string): string => `https://${id}.example.com/jwks`
const remote = (clientId: string) => client({ clientId, jwks: undefined, jwksUri: uriOf(clientId) })

/** Key hosts: those of the attacker hang until `settle`, others respond. */
function keyHosts() {
  const pending: (() => void)[] = []
  const requested: string[] = []
  return {
    requested,
    settle() {
      for (const fail of pending.splice(0)) fail()
    },
    fetch(url: string): Promise<Response> {
      requested.push(url)
      if (!url.includes('hung')) return Promise.resolve(Response.json({ keys: [honestKey.jwk] }))
      return new Promise((_, reject) => pending.push(() => reject(new Error('closed'))))
    },
  }
}

/** Seconds of no other timer. The time limit of the fetches never ends, however slow the machine is. */
const timeLimit = 29.5
let running: RunningServer | undefined
beforeEach(() => {
  const { setTimeout: start } = globalThis
  const limited = (call: () => void, delay?: number, ...parameters: never[]) =>
    start((delay ?? 0) >= timeLimit * 1000 ? () => {} : call, delay, ...parameters)
  vi.stubGlobal('setTimeout', limited)
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await running?.close(0)
  running = undefined
})

const formOf = (assertion: string) =>
  new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'api1',
    client_assertion_type: assertionType,
    client_assertion: assertion,
  })
const honestForm = async () => formOf(await sign(claims('honest'), honestKey.privateKey, { kid: 'honest' }))

/** A provider with the clients of the attacker and three honest ones: with a `jwksUri`, with `jwks`, with a secret. */
function attacked(fetch: FetchKeys, more: object = {}) {
  const web = client({ clientId: 'web', jwks: undefined, secrets: [{ sha256: sha256Of('web-secret') }] })
  const clients = [...hosts.map(remote), remote('honest'), client(), web]
  return setUp({ jwksUri: { fetch, timeout: timeLimit, ...more } }, clients)
}

describe('requests for six clients whose key hosts hang', () => {
  test('1,050 for each: 32 of them wait, of the 1,000 that a server processes at the same time', async () => {
    const { fetch: fetchKeys, requested, settle } = keyHosts()
    const f = await attacked(fetchKeys)
    const send = async (body: URLSearchParams) =>
      (await f.provider.handlers.token(new Request(tokenEndpoint, { method: 'POST', body }))).status
    const statuses: number[] = []
    const attacks: Promise<void>[] = []
    for (const host of hosts) {
      const body = formOf(await sign(claims(host)))
      for (let index = 0; index < 1050; index += 1)
        attacks.push(send(body).then((status) => void statuses.push(status)))
    }
    await eventually(() => expect(statuses).toHaveLength(6 * (1050 - 32)))
    expect(new Set(statuses)).toEqual(new Set([503]))
    expect(requested).toHaveLength(6)
    expect(await send(await honestForm())).toBe(200)
    settle()
    await Promise.all(attacks)
    expect(statuses.filter((status) => status === 401)).toHaveLength(6 * 32)
  })

  test('leave places of the server for honest requests, also for one whose keys have to be fetched', async () => {
    const { fetch: fetchKeys, requested, settle } = keyHosts()
    const f = await attacked(fetchKeys, { maxWaiting: 80 })
    running = await serve(f.provider, { maxRequests: 100 })
    const url = `http://127.0.0.1:${running.port}/connect/token`
    const send = async (body: URLSearchParams, headers = {}) => {
      const response = await fetch(url, { method: 'POST', body, headers })
      await response.text()
      return response.status
    }
    let ended = 0
    // The server closes connections whose requests it refuses: the next request on one can fail.
    const end = () => {
      ended += 1
    }
    const attacks: Promise<void>[] = []
    for (const [index, host] of hosts.entries()) {
      const body = formOf(await sign(claims(host)))
      for (let each = 0; each < 105; each += 1) attacks.push(send(body).then(end, end))
      await eventually(() => expect(ended).toBe((index + 1) * (105 - 10)))
    }
    expect(requested).toHaveLength(6)
    const honest: number[] = []
    for (let index = 0; index < 8; index += 1) {
      honest.push(await send(await honestForm()))
      honest.push(await send(formOf(await sign(claims('service')))))
      const plain = new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' })
      honest.push(await send(plain, { authorization: basic(['web', 'web-secret']) }))
    }
    expect(honest).toEqual(Array.from({ length: 24 }, () => 200))
    settle()
    await Promise.all(attacks)
  })
})
