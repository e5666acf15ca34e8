/**
 * Attack: an attacker guesses passwords on the page of the sign-in, with many requests, browsers or clients; or learns
 * from its responses, or from those to silent requests, which users exist and who is signed in.
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { userSchema } from '../../packages/server/src/configuration/users-schema.ts'
import { configuredUsers } from '../../packages/server/src/users/configured-users.ts'
import { answer, createBrowser, hiddenFields, type Page } from '../authorization/browser.ts'
import { challenge } from '../authorization/parties.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'
import { withLatency } from '../support/latency.ts'

const limits = { abuseControl: { passwords: { perUserAndAddress: { failures: 3 }, perUser: { failures: 5 } } } }
const session = '__Host-grantry-session'

/** A page without the values that differ in each response. */
const comparable = ({ status, html, headers }: Page, name: string) => ({
  status,
  html: html
    .replaceAll(/"form_token":"[^"]+"|value="[^"]+"|"interaction":"[^"]+"|interaction=[\w-]+/gu, '')
    .replaceAll(name, 'NAME'),
  headers: [...headers].sort(),
})

describe('guesses on the page', () => {
  test('are delayed after the limit: even the right password is not checked', async () => {
    const { start, clock } = await setUpSignIn({}, limits)
    const { enter, browser } = await start()
    for (const guess of ['a', 'b', 'c']) expect((await enter('alice', guess)).html).toContain('wrong_credentials')
    const refused = await enter('alice')
    const wait = Number(refused.headers.get('retry-after'))
    expect(refused.status).toBe(429)
    expect(wait).toBeLessThanOrEqual(900)
    expect(refused.html).toContain(`"problem":"too_many_attempts","retryAfter":${wait}`)
    expect(browser.jar.has(session)).toBe(false)
    clock.advance(wait)
    expect(nameOf(await enter('alice'))).toBe('consent')
  })

  test('are not more with other browsers, requests, clients and spellings of a name', async () => {
    const { start } = await setUpSignIn({}, limits)
    const native = { client_id: 'spa', redirect_uri: 'com.example.app:/callback', code_challenge: challenge }
    const pages = [{}, { ...native, code_challenge_method: 'S256' }, { scope: 'openid' }]
    for (const parameters of pages) expect((await (await start(parameters)).enter('ALICE', 'x')).status).toBe(200)
    expect((await (await start()).enter('alice')).status).toBe(429)
  })

  test('are not more with other addresses than the limit of the user', async () => {
    const { start, provider } = await setUpSignIn({}, limits)
    const from = (host: number) => createBrowser(provider, `198.51.100.${host}`)
    for (let host = 1; host <= 5; host += 1) {
      expect((await (await start({}, from(host))).enter('alice', 'x')).status).toBe(200)
    }
    expect((await (await start({}, from(6))).enter('alice')).status).toBe(429)
    expect(nameOf(await (await start({}, from(6))).enter('bob'))).toBe('consent')
  })

  test('of 40 concurrent ones under latency, as many are checked as the limit allows', async () => {
    const { start } = await setUpSignIn({}, { ...limits, storage: withLatency(memoryDriver()) })
    const { enter } = await start()
    const pages = await Promise.all(Array.from({ length: 40 }, (_, index) => enter('alice', `guess ${index}`)))
    expect(pages.filter(({ html }) => html.includes('wrong_credentials'))).toHaveLength(3)
    expect(pages.filter(({ status }) => status === 429)).toHaveLength(37)
  })
})

describe('an unknown user', () => {
  test('gets the pages of a known one: wrong, refused for now, impossible', async () => {
    const { start } = await setUpSignIn({}, limits)
    const [known, unknown] = [await start(), await start()]
    for (const guess of ['a', '', ' ', 'x'.repeat(1025), 'b', 'c', 'd']) {
      const pages = [await known.enter('alice', guess), await unknown.enter('mallory', guess)] as const
      expect(comparable(pages[1], 'mallory')).toEqual(comparable(pages[0], 'alice'))
    }
    expect((await unknown.enter('mallory')).status).toBe(429)
  })

  test.each([
    ['unknown', 'mallory'],
    ['inactive', 'carol'],
  ])('costs the same work as a wrong password: %s', async (_name, username) => {
    const hash = '$scrypt$ln=10,r=8,p=1$c2FsdCBvZiBhIHRlc3QuLg$yZ1C2pKp3fQ0kV3eWmN0ZQxk2cA7m4sT5u6v7w8x9y0'
    const users = ['alice', 'carol'].map((name) =>
      v.parse(userSchema, { sub: name, username: name, password: hash, active: name === 'alice' }),
    )
    const derived: string[] = []
    const derive = async (password: string) => {
      derived.push(password)
      return Buffer.alloc(32)
    }
    const service = configuredUsers(users, { derive })
    const { start } = await setUpSignIn({}, { users: service })
    await (await start()).enter('alice', 'wrong')
    const expected = derived.splice(0)
    expect(expected.length).toBeGreaterThan(0)
    await (await start()).enter(username, 'wrong')
    expect(derived).toEqual(expected)
  })
})

describe('a silent request', () => {
  test('gets the same response for a user who is not signed in, is another one, or does not exist', async () => {
    const { start, redeem } = await setUpSignIn()
    const ofAlice = await start()
    const consent = await ofAlice.enter('alice')
    const { id_token: hint } = (
      await redeem(answer(await ofAlice.submit('consent', { decision: 'allow' }, consent)).code)
    ).body
    const ofBob = await start()
    await ofBob.enter('bob')
    const silently = async (more: Readonly<Record<string, string>>, browser?: typeof ofBob.browser) => {
      const { page } = await start({ prompt: 'none', ...more }, browser)
      return { ...answer(page), headers: [...page.headers].sort() }
    }
    const reference = await silently({})
    expect(reference).toMatchObject({ error: 'login_required' })
    expect(await silently({ login_hint: 'alice' })).toEqual(reference)
    expect(await silently({ login_hint: 'mallory' })).toEqual(reference)
    expect(await silently({ id_token_hint: hint })).toEqual(reference)
    expect(await silently({ id_token_hint: hint }, ofBob.browser)).toEqual(reference)
    const claims = JSON.stringify({ id_token: { sub: { value: 'alice' } } })
    expect(await silently({ claims }, ofBob.browser)).toEqual(reference)
  })
})

test('no page, cookie, URL or event contains a password', async () => {
  const { start, events } = await setUpSignIn()
  const { enter, browser, page } = await start({ login_hint: 'alice' })
  const seen = [page, await enter('alice', 'a wrong secret'), await enter('alice')]
  const texts = seen.map(({ html, url, headers }) => `${html} ${url.href} ${JSON.stringify([...headers])}`)
  const all = [...texts, JSON.stringify([...browser.jar]), JSON.stringify(events)].join(' ')
  expect(all).not.toMatch(/a wrong secret|alice-password/u)
  expect(hiddenFields(page)).not.toHaveProperty('password')
})
