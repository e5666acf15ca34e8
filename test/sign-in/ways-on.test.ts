import { createPages } from '@grantry/pages'
import { createPageSets } from '@grantry/pages/preview'
import { endSession } from '@grantry/plugins/end-session'
import { signIn } from '@grantry/plugins/sign-in'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields, type Page, returnLink, unescapeHtml } from '../authorization/browser.ts'
import { redirectUri, request } from '../authorization/parties.ts'
import { views } from '../pages/views.ts'
import { pushed, setUp as setUpPush } from '../pushed-authorization/parties.ts'
import { setUpSignIn } from './parties.ts'

const issuer = 'https://id.example.com'
const pages = createPages()
const pageSets = createPageSets()
const isCode = { code: expect.any(String), state: request.state }
const restartOf = ({ html }: Page): string => unescapeHtml(/id="restart" href="([^"]+)"/u.exec(html)?.[1] ?? '')
/** Where a page leads: a link, or a form with a button. */
const hasWayOn = (html: string): boolean =>
  /<a [^>]*\bid="(?:restart|return|home|continue|again|done|confirm|sign-in)"/u.test(html) ||
  /<form[^>]*>.*<button/su.test(html)

const start = (more = {}) => setUpSignIn({ pages }, more, { pages, features: [endSession({ pages })] })
type Started = Awaited<ReturnType<Awaited<ReturnType<typeof start>>['start']>>

describe('a page that would be a dead end', () => {
  test('11.33 a right password is accepted in a second tab, after a sign-in in the first', async () => {
    const { start: open } = await start()
    const first = await open()
    const second = await open({ state: 'second' }, first.browser)
    await first.enter('alice')
    const page = await second.enter('alice')
    expect(page.html).not.toContain('id="problem"')
    expect(answer(await second.submit('consent', { decision: 'allow' }, page))).toMatchObject({ state: 'second' })
  })

  test.each([
    ['signin', { username: 'alice', password: 'alice-password' }],
    ['signin', { decision: 'cancel' }],
    ['consent', { decision: 'allow' }],
    ['accounts', { account: 'other' }],
    ['secondfactor', { code: '123456' }],
  ])('11.33 a page that was open for 31 minutes starts again with the same request: %s %j', async (path, fields) => {
    const { start: open, clock } = await start()
    const { browser, page, submit } = await open()
    clock.advance(1860)
    const expired = await submit(path, fields)
    expect([expired.status, restartOf(expired)]).toEqual([400, expect.stringContaining('/connect/authorize?')])
    const again = await browser.open(restartOf(expired))
    expect(hiddenFields(again).request).toBe(hiddenFields(page).request)
    const consent = await submit('signin', { username: 'alice', password: 'alice-password' }, again)
    expect(answer(await submit('consent', { decision: 'allow' }, consent))).toMatchObject(isCode)
  })

  test('11.33 two tabs that were open for 31 minutes lead to their own requests', async () => {
    const { start: open, clock } = await start()
    const alice = { username: 'alice', password: 'alice-password' }
    const first = await open({ state: 'first' })
    const second = await open({ state: 'second' }, first.browser)
    clock.advance(1860)
    const login = await first.browser.open(restartOf(await first.submit('signin', alice)))
    const consent = await first.submit('signin', alice, login)
    expect(answer(await first.submit('consent', { decision: 'allow' }, consent))).toMatchObject({ state: 'first' })
    const again = await first.browser.open(restartOf(await second.submit('signin', alice)))
    expect(answer(again)).toMatchObject({ code: expect.any(String), state: 'second' })
  })

  test('11.33 going back after the consent leads to the application', async () => {
    const { start: open, clock } = await start()
    const { browser, page, enter, submit } = await open()
    const consent = await enter('alice')
    expect(answer(await submit('consent', { decision: 'allow' }, consent))).toMatchObject(isCode)
    const { interaction = '' } = hiddenFields(page)
    for (const path of ['authorize/resume', 'signin', 'consent']) {
      const back = await browser.open(`${issuer}/connect/${path}?${new URLSearchParams({ interaction })}`)
      expect([path, back.status, returnLink(back)?.href]).toEqual([path, 400, new URL('/', redirectUri).href])
      // Of no request, and of one that is being answered, nothing is known.
      const unknown = await browser.open(`${issuer}/connect/${path}?interaction=${'x'.repeat(43)}`)
      expect([path, unknown.status, returnLink(unknown)]).toEqual([path, 400, undefined])
    }
    clock.advance(4000)
    const late = await browser.open(`${issuer}/connect/authorize/resume?${new URLSearchParams({ interaction })}`)
    expect(returnLink(late)).toBeUndefined()
  })

  test('11.33 the address bar after a wrong password shows the sign-in again', async () => {
    const { start: open } = await start()
    const { browser, page, enter } = await open()
    const action = /<form method="post" action="([^"]+)"/u.exec(page.html)?.[1]?.replaceAll('&#38;', '&') ?? ''
    expect((await enter('alice', 'wrong')).html).toContain('id="problem"')
    const again = await browser.open(action)
    expect([again.status, hiddenFields(again).interaction]).toEqual([200, hiddenFields(page).interaction])
  })

  test('11.33 an address with the fields of a form signs no user in', async () => {
    const f = await setUpSignIn()
    const { page, browser } = await f.start()
    const fields = new URLSearchParams({ ...hiddenFields(page), username: 'alice', password: 'alice-password' })
    const shown = await browser.open(`${f.provider.issuer}/connect/signin?${fields}`)
    expect([shown.status, browser.jar.has('__Host-grantry-session')]).toEqual([200, false])
  })

  test('11.33 a form of another site leads only to the authorization endpoint', async () => {
    const { start: open, provider } = await start()
    const { submit } = await open()
    for (const query of [
      'https://evil.example',
      '//evil.example?client_id=x',
      'client_id=x&redirect_uri=https://evil.example',
      'x'.repeat(20_000),
    ]) {
      const url = restartOf(await submit('signin', { interaction: 'x', request: query }))
      if (url !== '') expect(url).toMatch(`${provider.issuer}/connect/authorize?`)
      expect(url.length).toBeLessThan(9000)
    }
  })

  test.each([
    ['a long one', { claims: JSON.stringify({ userinfo: { [`a${'b'.repeat(90)}`]: null } }), extra: 'x'.repeat(5000) }],
    ['one with an identity token', { id_token_hint: 'token' }],
  ])('11.33 the form does not repeat all of a request: %s', async (_name, more) => {
    const { start: open, redeem } = await start()
    const first = await open()
    const end = await first.submit('consent', { decision: 'allow' }, await first.enter('alice'))
    const hint =
      'id_token_hint' in more ? { id_token_hint: String((await redeem(answer(end).code)).body.id_token) } : more
    const { page } = await open({ ...hint, prompt: 'login' }, first.browser)
    const repeated = new URLSearchParams(hiddenFields(page).request)
    expect([repeated.get('redirect_uri'), repeated.get('state')]).toEqual([redirectUri, request.state])
    expect(repeated.has('id_token_hint') || repeated.has('extra')).toBe(false)
  })
})

const post =
  (path: string, fields: Record<string, string> = {}) =>
  ({ browser, submit }: Started) =>
    path.startsWith('/') ? browser.submit(`https://id.example.com${path}`, fields) : submit(path, fields)
const get =
  (path: string) =>
  ({ browser }: Started) =>
    browser.open(`https://id.example.com/connect/${path}`)
const unknown = { interaction: 'x'.repeat(43), request: '' }

/** Every state of a page that ends something, or that nothing leads to. */
const states: readonly (readonly [string, (started: Started) => Promise<Page>])[] = [
  ['no client', get('authorize')],
  ['an unknown client', get('authorize?client_id=stranger')],
  ['a foreign redirect URI', get(`authorize?client_id=web&redirect_uri=https://a.example/`)],
  ['a repeated parameter', get('authorize?client_id=web&client_id=web')],
  ['a resumed request that does not exist', get(`authorize/resume?interaction=${'x'.repeat(43)}`)],
  ['a resumed request without its id', get('authorize/resume')],
  ...['signin', 'secondfactor', 'consent', 'accounts'].flatMap((path) => [
    [`${path} without anything`, get(path)] as const,
    [`${path} of an unknown request`, get(`${path}?interaction=x`)] as const,
    [`a form of ${path} of an unknown request`, post(path, unknown)] as const,
    [
      `a malformed form of ${path}`,
      ({ browser }: Started) => browser.submit(`https://id.example.com/connect/${path}`, {}),
    ] as const,
  ]),
  ['a wrong password', ({ enter }) => enter('alice', 'wrong')],
  ['a logout without a session', get('endsession')],
  ['a logout of a client without a session', get('endsession?client_id=web')],
  ['a logout with an unknown client', get('endsession?client_id=x')],
  ['the address of an answered logout', get('endsession/confirm')],
  ['a form of a logout that has expired', post('/connect/endsession/confirm', { form_token: 'x' })],
]

test.each(states)('11.33 the page has a way on: %s', async (_name, open) => {
  const { start: begin } = await start()
  const page = await open(await begin())
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.html).toSatisfy(hasWayOn)
})

// The page of the account is where the others lead to.
const others = Object.keys(views).filter((name) => !name.startsWith('account-overview'))

test.each(others)('11.33 each state of the ready pages has a way on: %s', (name) => {
  const { html } = views[name]?.(pageSets, 'en') ?? { html: '' }
  expect(html).toSatisfy(hasWayOn)
})

test('11.33 the form of a pushed request does not show what was pushed, and leads back to the client', async () => {
  const f = await setUpPush({}, signIn({ pages, passwords: false, ways: [{ links: () => [], parts: () => [] }] }))
  const browser = f.browser()
  const page = await browser.open(await f.pushedUrl({}, { ...pushed, login_hint: 'secret' }))
  const repeated = hiddenFields(page).request ?? ''
  expect([...new URLSearchParams(repeated).keys()]).toEqual(['client_id', 'redirect_uri', 'state'])
  f.clock.advance(1860)
  const expired = await browser.submit(`${f.provider.issuer}/connect/signin`, hiddenFields(page))
  const end = await browser.open(restartOf(expired))
  expect(answer(end)).toMatchObject({ error: 'invalid_request', state: request.state })
})
