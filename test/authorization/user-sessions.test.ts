import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint, type Session, userSessions } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { expect, test } from 'vitest'
import { answer } from './browser.ts'
import { nameOf, ownPages, setUpPages } from './own-pages.ts'

/** Alice is signed in in two browsers, bob in one. */
async function signedIn() {
  const ended: Session[] = []
  const listener = { parts: () => [], onSessionEnd: async (_: unknown, session: Session) => void ended.push(session) }
  const endpoint = authorizationEndpoint({ interaction: ownPages, features: [listener] })
  const plugins = [authorizationCode(), proofKey(), refreshToken(), endpoint]
  const f = await setUpPages({}, { plugins })
  const [laptop, phone, bobsBrowser] = [f.browser(), f.browser(), f.browser()] as const
  for (const [browser, user] of [
    [laptop, 'alice'],
    [phone, 'alice'],
    [bobsBrowser, 'bob'],
  ] as const) {
    await f.signIn(browser, user)
  }
  return { ...f, sessions: f.provider.use(userSessions), ended, laptop, phone, bobsBrowser }
}

test('11.28 a host lists the sessions of a user', async () => {
  const { sessions } = await signedIn()
  const all = await sessions.list('alice')
  expect(all.map(({ subject }) => subject.sub)).toEqual(['alice', 'alice'])
  expect(new Set(all.map(({ sid }) => sid)).size).toBe(2)
  expect(JSON.stringify(all)).not.toContain('secret')
  expect(await sessions.list('carol')).toEqual([])
})

test('11.28 a host ends one session, and others continue', async () => {
  const { sessions, ask, laptop, phone, ended } = await signedIn()
  const [first] = await sessions.list('alice')
  expect(await sessions.end(first?.sid ?? '')).toBe(true)
  expect(await sessions.end(first?.sid ?? '')).toBe(false)
  expect(ended.map(({ sid }) => sid)).toEqual([first?.sid])
  const pages = [await ask(laptop), await ask(phone)]
  expect(pages.filter((page) => nameOf(page) === 'sign-in')).toHaveLength(1)
})

test('11.28 a host ends all sessions of a user: after a stolen device, no browser gets a code', async () => {
  const { sessions, ask, laptop, phone, bobsBrowser, ended } = await signedIn()
  expect(await sessions.endAll('alice')).toBe(2)
  expect(ended).toHaveLength(2)
  expect([nameOf(await ask(laptop)), nameOf(await ask(phone))]).toEqual(['sign-in', 'sign-in'])
  expect(answer(await ask(bobsBrowser))).toHaveProperty('code')
  expect(await sessions.list('alice')).toEqual([])
})

test('11.28 sessions of a user who was revoked before still notify their clients, and are listed no more', async () => {
  const { provider, sessions, ended } = await signedIn()
  await provider.revoke({ subject: 'alice' })
  expect(await sessions.list('alice')).toEqual([])
  expect(await sessions.endAll('alice')).toBe(2)
  expect(ended.map(({ subject }) => subject.sub)).toEqual(['alice', 'alice'])
})

test('11.28 one session more than a user can have ends the one that was idle for the longest time', async () => {
  const ended: string[] = []
  const listener = { parts: () => [], onSessionEnd: async (_: unknown, { sid }: Session) => void ended.push(sid) }
  const endpoint = authorizationEndpoint({ interaction: ownPages, features: [listener], sessions: { maxPerUser: 3 } })
  const plugins = [authorizationCode(), proofKey(), refreshToken(), endpoint]
  const { browser, signIn, ask, clock } = await setUpPages({}, { plugins })
  const browsers = [browser(), browser(), browser()]
  for (const device of browsers) {
    await signIn(device)
    clock.advance(100)
  }
  const [first, second] = browsers
  if (first === undefined || second === undefined) throw new Error('no browser')
  expect(answer(await ask(first, { prompt: 'none' }))).toHaveProperty('code')
  await signIn(browser())
  expect(ended).toHaveLength(1)
  expect(answer(await ask(first, { prompt: 'none' }))).toHaveProperty('code')
  expect(answer(await ask(second, { prompt: 'none' })).error).toBe('login_required')
})

test('11.28 a user can have a hundred sessions by default', async () => {
  const { browser, signIn, ended, sessions } = await signedIn()
  for (let count = 2; count < 100; count += 1) await signIn(browser(), 'alice')
  expect([ended.length, (await sessions.list('alice')).length]).toEqual([0, 100])
  await signIn(browser(), 'alice')
  expect([ended.length, (await sessions.list('alice')).length]).toEqual([1, 100])
})

test.each([0, 1.5, 1001, '3'])('11.28 refuses maxPerUser: %j', (maxPerUser) => {
  const options = { interaction: ownPages, sessions: { maxPerUser: maxPerUser as number } }
  expect(() => authorizationEndpoint(options)).toThrow('sessions.maxPerUser must be 1 to 1000 sessions')
})
