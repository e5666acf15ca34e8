import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { createTestClock, mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { kindOf } from '../end-session/parties.ts'
import { withLatency } from '../support/latency.ts'
import { clients, createReceivers, setUpNotified } from './parties.ts'

const failing = async () => new Response('later', { status: 503 })
const never = () => new Promise<Response>(() => {})

/** A provider whose user has signed out while the client did not respond. */
async function setUpPending(respond: (url: string) => Promise<Response> = failing) {
  const f = await setUpNotified()
  const { browser, hint } = await f.signedIn()
  f.respondWith(respond)
  await f.logout(browser, { id_token_hint: hint })
  return { ...f, browser }
}

test.each([200, 204])('14.5 the status %i confirms the logout: there is no other attempt', async (status) => {
  const { received, provider, clock } = await setUpPending(async () => new Response(null, { status }))
  clock.advance(3600)
  await provider.runTasks()
  expect(received).toHaveLength(1)
})

test.each<[string, () => Promise<Response>]>([
  ['the status 400', async () => new Response('{}', { status: 400 })],
  ['the status 202', async () => new Response(null, { status: 202 })],
  ['a redirect', async () => new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/' } })],
  ['no response', () => Promise.reject(new Error('refused'))],
])('14.6 after %s, the token is sent again', async (_name, respond) => {
  const { received, respondWith, provider, clock, claims, events } = await setUpPending(respond)
  respondWith(async () => new Response(null, { status: 200 }))
  await provider.runTasks()
  expect(received).toHaveLength(1)
  clock.advance(16)
  await provider.runTasks()
  expect(received.map(({ url }) => url)).toEqual([received[0]?.url, received[0]?.url])
  // A new token, which has not expired, and which no replay check refuses.
  expect(claims()[1]).toMatchObject({ iat: clock.now(), exp: clock.now() + 120, sid: claims()[0]?.sid })
  expect(claims()[1]?.jti).not.toBe(claims()[0]?.jti)
  clock.advance(3600)
  await provider.runTasks()
  expect(received).toHaveLength(2)
  expect(events.filter(({ type }) => type === 'unhandled_failure')).toEqual([])
})

test('14.6 the delays grow, and after five attempts an event names the client', async () => {
  const { received, provider, clock, events } = await setUpPending()
  const began = clock.now()
  const times = [0]
  for (let second = 0; second < 4000; second += 5) {
    clock.advance(5)
    await provider.runTasks()
    if (received.length > times.length) times.push(clock.now() - began)
  }
  expect(times).toEqual([0, 15, 80, 385, 2190])
  const failures = events.filter(({ type }) => type === 'unhandled_failure')
  expect(failures).toMatchObject([
    {
      reason: 'task_failed',
      cause: { message: 'No logout token could be delivered in 5 attempts; clients: web' },
    },
  ])
  expect(JSON.stringify(failures)).not.toMatch(/eyJ/u)
})

test('14.6 only the clients that have not confirmed are notified again', async () => {
  const f = await setUpNotified()
  const { browser, hint } = await f.signedIn()
  await f.visit(browser, 'shop')
  f.respondWith(async (url) => new Response(null, { status: url.includes('shop') ? 503 : 200 }))
  await f.logout(browser, { id_token_hint: hint })
  f.clock.advance(20)
  await f.provider.runTasks()
  expect(f.received.map(({ url }) => new URL(url).hostname).sort()).toEqual([
    'client.example.com',
    'shop.example.com',
    'shop.example.com',
  ])
})

test('14.6 a client that was removed, or receives no tokens any more, ends the attempts', async () => {
  let known = true
  const directory = {
    find: async (id: string) => {
      const client = clients.find(({ clientId }) => clientId === id)
      return client && { ...client, ...(!known && { backchannelLogoutUri: undefined }) }
    },
  }
  const f = await setUpNotified({}, { clients: directory })
  const { browser, hint } = await f.signedIn()
  f.respondWith(failing)
  await f.logout(browser, { id_token_hint: hint })
  known = false
  for (let attempt = 0; attempt < 6; attempt += 1) {
    f.clock.advance(1900)
    await f.provider.runTasks()
  }
  expect(f.received).toHaveLength(1)
  expect(f.events.filter(({ type }) => type === 'unhandled_failure')).toEqual([])
})

test('14.7 the user does not wait for a client that does not respond', async () => {
  const f = await setUpNotified({ maxWait: 0 })
  const { browser, hint } = await f.signedIn()
  f.respondWith(never)
  expect(kindOf(await f.logout(browser, { id_token_hint: hint }))).toBe('signed out')
  expect(await f.isSignedIn(browser)).toBe(false)
  await expect.poll(() => f.received.length).toBe(1)
  f.respondWith(async () => new Response(null, { status: 200 }))
  f.clock.advance(16)
  await f.provider.runTasks()
  expect(f.received).toHaveLength(2)
})

test('14.9 of several processes, one makes each attempt, also if the storage is slow', async () => {
  const clock = createTestClock()
  const storage = withLatency(mapDriver(new Map(), clock.now))
  const more = { storage, runtime: { now: clock.now } }
  const receivers = createReceivers()
  const processes = await Promise.all(Array.from({ length: 4 }, () => setUpNotified({}, more, receivers)))
  const [first] = processes
  if (first === undefined) throw new Error('There is no process')
  const signedIn = await Promise.all(['a', 'b', 'c'].map((name) => first.signedIn(name)))
  receivers.respondWith(failing)
  for (const { browser, hint } of signedIn) await first.logout(browser, { id_token_hint: hint })
  receivers.respondWith(async () => new Response(null, { status: 200 }))
  clock.advance(16)
  await Promise.all(processes.map(({ provider }) => provider.runTasks()))
  const subs = receivers.claims().map(({ sub }) => sub)
  expect(subs.slice(0, 3)).toEqual(['a', 'b', 'c'])
  expect(subs.slice(3).sort()).toEqual(['a', 'b', 'c'])
  clock.advance(3600)
  await Promise.all(processes.map(({ provider }) => provider.runTasks()))
  expect(receivers.received).toHaveLength(6)
})

test('14.9 a task reads no records of minutes that are over, and none after the last logout', async () => {
  const clock = createTestClock()
  const inner = mapDriver(new Map(), clock.now)
  let reads = 0
  const storage = {
    ...inner,
    getItem: (key: string) => {
      reads += 1
      return inner.getItem(key)
    },
  }
  const f = await setUpNotified({}, { storage, runtime: { now: clock.now } })
  const readsOfTask = async (): Promise<number> => {
    reads = 0
    await f.provider.runTasks()
    return reads
  }
  expect(await readsOfTask()).toBe(721)
  expect(await readsOfTask()).toBeLessThan(5)
  const users = await Promise.all(Array.from({ length: 20 }, (_, index) => f.signedIn(`user-${index}`)))
  for (const { browser, hint } of users) await f.logout(browser, { id_token_hint: hint })
  clock.advance(200)
  await readsOfTask()
  clock.advance(200)
  expect(await readsOfTask()).toBeLessThan(10)
})

test('14.9 a run with slow clients ends, and the next one continues', async () => {
  const f = await setUpNotified()
  const users = await Promise.all(Array.from({ length: 40 }, (_, index) => f.signedIn(`user-${index}`)))
  f.respondWith(failing)
  for (const { browser, hint } of users) await f.logout(browser, { id_token_hint: hint })
  f.clock.advance(15)
  f.respondWith(async () => {
    f.clock.advance(1)
    return new Response(null, { status: 200 })
  })
  await f.provider.runTasks()
  expect(f.received).toHaveLength(72)
  await f.provider.runTasks()
  expect(f.received).toHaveLength(80)
  expect(
    new Set(
      f
        .claims()
        .slice(40)
        .map(({ sub }) => sub),
    ).size,
  ).toBe(40)
})

test('14.4 sessions that the host or an operator ends, in another process, notify too', async () => {
  const storage = mapDriver()
  const f = await setUpNotified({}, { storage })
  for (const browser of [f.browser(), f.browser()]) await f.signedIn('alice', browser)
  await f.signedIn('bob')
  const otherProcess = await setUpNotified({}, { storage }, f)
  expect(await otherProcess.provider.use(userSessions).endAll('alice')).toBe(2)
  expect(f.claims()).toMatchObject([{ sub: 'alice' }, { sub: 'alice' }])
  // A client that ends sessions by their sid would keep the second one otherwise.
  expect(new Set(f.claims().map(({ sid }) => sid)).size).toBe(2)
})
