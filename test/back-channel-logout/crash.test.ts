import type { AtomicDriver } from '@grantry/core'
import { createTestClock, mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { kindOf } from '../end-session/parties.ts'
import { kitOf } from '../support/kit-of.ts'
import { createReceivers, setUpNotified, sharedStorage } from './parties.ts'

const never = <T>() => new Promise<T>(() => {})

/** A process that can die: it then reads and writes nothing any more, also when its requests time out. */
async function setUpMortal(
  options: Parameters<typeof setUpNotified>[0],
  more: { readonly storage: AtomicDriver; readonly runtime: { readonly now: () => number } },
  receivers = createReceivers(),
) {
  let isDead = false
  const mortal = <K extends readonly unknown[], T>(act: (...args: K) => T) => {
    return (...args: K) => (isDead ? never<Awaited<T>>() : act(...args))
  }
  const { storage } = more
  const { name, getItem, setItem, removeItem, insertItem, incrementItem, replaceItem } = storage
  const mortalStorage = {
    name,
    getItem: mortal(getItem),
    setItem: mortal(setItem),
    removeItem: mortal(removeItem),
    insertItem: mortal(insertItem),
    incrementItem: mortal(incrementItem),
    replaceItem: mortal(replaceItem),
  }
  const f = await setUpNotified(options, { ...more, storage: mortalStorage }, receivers)
  return {
    ...f,
    die() {
      isDead = true
    },
    /** Logs a user out, and dies before the client responds. The logout does not wait for that. */
    async logOutAndDie(user?: string) {
      const { browser, hint } = await f.signedIn(user)
      const { length } = f.received
      f.respondWith(never)
      await f.logout(browser, { id_token_hint: hint })
      await expect.poll(() => f.received.length).toBe(length + 1)
      isDead = true
    },
  }
}

test('14.8 a process that dies after it has stored the logout: another one sends it', async () => {
  const clock = createTestClock()
  const storage = sharedStorage(clock.now)
  const more = { storage, runtime: { now: clock.now } }
  const dying = await setUpMortal({ maxWait: 0 }, more)
  await dying.logOutAndDie()
  const next = await setUpNotified({}, more)
  await next.provider.runTasks()
  expect(next.received).toEqual([])
  clock.advance(16)
  await next.provider.runTasks()
  expect(next.claims()).toMatchObject([{ sub: 'alice', aud: 'web', sid: dying.claims()[0]?.sid }])
})

test.each([3600, 40_000])('14.8 a process that starts %i s later sends it', async (downtime) => {
  const clock = createTestClock()
  const more = { storage: sharedStorage(clock.now), runtime: { now: clock.now } }
  const dying = await setUpMortal({ maxWait: 0 }, more)
  await dying.logOutAndDie()
  clock.advance(downtime)
  const next = await setUpNotified({}, more)
  await next.provider.runTasks()
  expect(next.claims()).toMatchObject([{ aud: 'web' }])
  await next.provider.runTasks()
  expect(next.received).toHaveLength(1)
})

test('14.8 a process that dies while it sends again: another one continues', async () => {
  const clock = createTestClock()
  const more = { storage: sharedStorage(clock.now), runtime: { now: clock.now } }
  const receivers = createReceivers()
  await (await setUpMortal({ maxWait: 0 }, more, receivers)).logOutAndDie()
  clock.advance(16)
  const dying = await setUpMortal({}, more, receivers)
  void dying.provider.runTasks()
  await expect.poll(() => receivers.received.length).toBe(2)
  dying.die()
  const next = await setUpNotified({}, more)
  clock.advance(66)
  await next.provider.runTasks()
  expect(next.claims()).toMatchObject([{ aud: 'web' }])
})

test('14.8 the logout is stored before the session ends: without it, the session remains', async () => {
  const clock = createTestClock()
  const records = new Map()
  const inner = mapDriver(records, clock.now)
  let isFull = false
  const storage = {
    ...inner,
    incrementItem: async (...args: Parameters<typeof inner.incrementItem>) => {
      if (isFull) throw new Error('the disk is full')
      return inner.incrementItem(...args)
    },
  }
  const f = await setUpNotified({}, { storage, runtime: { now: clock.now } })
  const { browser, hint } = await f.signedIn()
  isFull = true
  const page = await f.logout(browser, { id_token_hint: hint })
  expect([page.status, kindOf(page)]).toEqual([503, 'error'])
  isFull = false
  expect(f.received).toEqual([])
  expect(await f.isSignedIn(browser)).toBe(true)
})

test('14.8 attempts in which a process dies count', async () => {
  const clock = createTestClock()
  const more = { storage: sharedStorage(clock.now), runtime: { now: clock.now } }
  const receivers = createReceivers()
  await (await setUpMortal({ maxWait: 0 }, more, receivers)).logOutAndDie()
  for (let restart = 0; restart < 8; restart += 1) {
    clock.advance(1900)
    const next = await setUpMortal({}, more, receivers)
    const { length } = receivers.received
    const run = next.provider.runTasks()
    if (length < 5) await expect.poll(() => receivers.received.length).toBe(length + 1)
    else await run
    next.die()
  }
  expect(receivers.received).toHaveLength(5)
})

test('14.8 a process that dies after it has claimed an attempt: another one makes it', async () => {
  const f = await setUpNotified()
  const { browser, hint } = await f.signedIn()
  f.respondWith(async () => new Response(null, { status: 503 }))
  const bucket = Math.floor(f.clock.now() / 60)
  await f.logout(browser, { id_token_hint: hint })
  f.clock.advance(16)
  const kit = kitOf(f.provider, 'authorization-endpoint')
  const claim = `claim:logout:${bucket}:1:1:${Math.floor(f.clock.now() / 60)}`
  expect(await kit.records.insert(claim, true, f.clock.now() + 120)).toBe(true)
  await f.provider.runTasks()
  expect(f.received).toHaveLength(1)
  f.clock.advance(60)
  await f.provider.runTasks()
  expect(f.received).toHaveLength(2)
})

test('14.8 a process finds what another one stores in a minute that it has read before', async () => {
  const clock = createTestClock(1_800_000_000)
  const more = { storage: sharedStorage(clock.now), runtime: { now: clock.now } }
  const survivor = await setUpNotified({}, more)
  for (const name of ['alice', 'bob']) {
    await survivor.provider.runTasks()
    clock.advance(1)
    await (await setUpMortal({ maxWait: 0 }, more)).logOutAndDie(name)
  }
  clock.advance(200)
  await survivor.provider.runTasks()
  expect(new Set(survivor.claims().map(({ sub }) => sub))).toEqual(new Set(['alice', 'bob']))
})
