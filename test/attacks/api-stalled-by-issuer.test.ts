/**
 * Attack: an attacker floods the issuer until it hangs. The APIs have keys that they may use for an hour more, but each
 * of their requests waits until a fetch from the issuer has timed out.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import {
  bearing,
  createApi,
  createIssuer,
  issuer,
  jwksUri,
  keyNamed,
  metadataUrl,
  sign,
  start,
  type TestIssuer,
} from '../resource-server/issuer.ts'

const hung = () => new Promise<Response>(() => {})
const longLived = { exp: start + 1_000_000 }

// A request that waits for a timer waits until the test advances the time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

async function pass(test: TestIssuer, seconds: number): Promise<void> {
  test.now += seconds
  await vi.advanceTimersByTimeAsync(seconds * 1000)
}

const countOf = ({ fetched }: TestIssuer, url: string): number => fetched.filter((each) => each === url).length

/** Waits until a URL has been fetched a number of times. */
async function fetchedTimes(test: TestIssuer, url: string, times: number): Promise<void> {
  while (countOf(test, url) < times) await new Promise(setImmediate)
}

/** An API whose keys are too old, after a first attempt to renew them has timed out. */
async function createStalled() {
  const { test: t, api } = await createApi()
  const token = await sign(await keyNamed('one'), longLived)
  const send = async () => (await api.authorize(bearing(token))).reason
  expect(await send()).toBeUndefined()
  const respond = t.responses.get(jwksUri) ?? hung
  t.responses.set(jwksUri, hung)
  t.now += 600
  const first = send()
  await fetchedTimes(t, jwksUri, 2)
  await pass(t, 5)
  expect(await first).toBeUndefined()
  return { t, api, send, respond }
}

test('while the issuer hangs, requests use the known keys without waiting, and one in ten seconds waits briefly', async () => {
  const { t, send } = await createStalled()
  for (let attempt = 3; attempt < 6; attempt++) {
    await pass(t, 4)
    expect(await send()).toBeUndefined()
    expect(countOf(t, jwksUri)).toBe(attempt - 1)
    await pass(t, 1)
    const starting = send()
    await fetchedTimes(t, jwksUri, attempt)
    expect(await Promise.all([send(), send()])).toEqual([undefined, undefined])
    await pass(t, 0.5)
    expect(await starting).toBeUndefined()
    await pass(t, 4.5)
    expect(await send()).toBeUndefined()
  }
  expect(countOf(t, jwksUri)).toBe(5)
})

test('a key that was removed meanwhile is refused by the first request after the issuer is back', async () => {
  const { t, send, respond } = await createStalled()
  t.responses.set(jwksUri, respond)
  t.published = [(await keyNamed('two')).jwk]
  await pass(t, 5)
  expect(await send()).toBe('key_unknown')
})

test('a key that was added meanwhile is found as soon as the issuer is back', async () => {
  const { t, api, respond } = await createStalled()
  const two = await keyNamed('two')
  const token = await sign(two, longLived)
  await pass(t, 5)
  const waiting = api.authorize(bearing(token))
  await fetchedTimes(t, jwksUri, 3)
  await pass(t, 5)
  expect((await waiting).reason).toBe('key_unknown')
  t.responses.set(jwksUri, respond)
  t.published = [two.jwk]
  await pass(t, 5)
  expect((await api.authorize(bearing(token))).reason).toBeUndefined()
})

test('when the known keys are too old, requests wait for the issuer and get 503', async () => {
  const { t, api } = await createStalled()
  t.now += 3600
  const token = await sign(await keyNamed('one'), longLived)
  const outcomes = [api.authorize(bearing(token)), api.authorize(bearing(token))]
  await fetchedTimes(t, jwksUri, 3)
  await pass(t, 5)
  for (const outcome of outcomes) expect((await outcome).response?.status).toBe(503)
})

test('while the metadata hang, requests use the known endpoints without waiting', async () => {
  const t = await createIssuer()
  t.responses.set(`${issuer}/introspect`, () => Response.json({ active: true, aud: t.options.audience }))
  const introspection = { clientId: 'a', clientSecret: 'b', maxAge: 0 }
  const api = createResourceServer({ ...t.options, jwt: false, introspection })
  // Requests with the same token share an introspection.
  const send = async (token = 'one') => (await api.authorize(bearing(token))).reason
  expect(await send()).toBeUndefined()
  const documents = [metadataUrl, `${issuer}/.well-known/oauth-authorization-server`]
  for (const url of documents) t.responses.set(url, hung)
  t.now += 3600
  const first = send()
  for (const [index, url] of documents.entries()) {
    await fetchedTimes(t, url, index === 0 ? 2 : 1)
    await pass(t, 5)
  }
  expect(await first).toBeUndefined()
  await pass(t, 4)
  expect(await send()).toBeUndefined()
  await pass(t, 1)
  const starting = send()
  await fetchedTimes(t, metadataUrl, 3)
  expect(await send('two')).toBeUndefined()
  await pass(t, 0.5)
  expect(await starting).toBeUndefined()
})
