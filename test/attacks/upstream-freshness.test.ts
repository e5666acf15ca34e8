/**
 * Attack: a thief has a browser in which the victim is signed in at another provider. That provider signs the victim in
 * here without a question, and does not state when the victim authenticated. The thief wants a new authentication that
 * never happened: for a client that demands one, for the account page, or to link an account as a lasting way in.
 *
 * OpenID Connect Core section 3.1.2.1 (`max_age`, `prompt=login`); decision 159.
 */

import { github, upstream } from '@grantry/plugins/upstream'
import { describe, expect, test } from 'vitest'
import { accountUri, setUpAccount } from '../account/parties.ts'
import { answer } from '../authorization/browser.ts'
import { nameOf } from '../sign-in/parties.ts'
import { createGithubDouble } from '../upstream/github-double.ts'
import { createOpenIdDouble, realNow } from '../upstream/openid-double.ts'
import { accountUrl, acmeOf, setUpUpstream } from '../upstream/parties.ts'

/** A session that the provider has begun without a word about the time. */
async function silentlySignedIn(setting: Parameters<typeof setUpUpstream>[0] = {}) {
  const f = await setUpUpstream(setting)
  const away = await f.leave()
  await f.comeBack(away)
  return { ...f, browser: away.browser }
}

const demands = [{ max_age: '600' }, { max_age: '0' }, { prompt: 'login' }] as const

describe('a silent sign-in at another provider', () => {
  test.each(demands)('18.8 does not answer a later demand of %o', async (demand) => {
    const { start, leave, comeBack, browser, failures } = await silentlySignedIn()
    expect(nameOf((await start({}, browser)).page)).toBe('consent')
    expect(nameOf((await start(demand, browser)).page)).toBe('signIn')
    const away = await leave(demand, browser)
    expect(away.request.searchParams.get('max_age')).toBe('max_age' in demand ? demand.max_age : '0')
    const page = await comeBack(away)
    expect(page.html).toMatch(/^signIn .*"problem":"provider_not_recent","provider":"Acme"/u)
    expect(failures()).toEqual(['auth_time_missing'])
    expect(nameOf((await start(demand, browser)).page)).toBe('signIn')
  })

  test('18.8 does not answer max_age with prompt=none', async () => {
    const { start, browser } = await silentlySignedIn()
    expect(answer((await start({ max_age: '600', prompt: 'none' }, browser)).page)).toMatchObject({
      error: 'login_required',
    })
  })

  test('18.8 does not become recent by another one, but by a proof', async () => {
    const { start, leave, comeBack, browser, double } = await silentlySignedIn()
    await comeBack(await leave({ prompt: 'select_account' }, browser))
    expect(nameOf((await start({ max_age: '600' }, browser)).page)).toBe('signIn')
    double.set({ claims: { auth_time: realNow() } })
    expect(nameOf(await comeBack(await leave({ max_age: '600' }, browser)))).toBe('consent')
    expect(nameOf((await start({ max_age: '600' }, browser)).page)).toBe('consent')
  })

  test('18.12 permits no link', async () => {
    const { browser, double } = await silentlySignedIn()
    const link = () => browser.open(`${accountUrl}?action=link`)
    expect(JSON.parse((await link()).html)).toEqual({ refused: 'outdated' })
    expect(double.countOf('/token')).toBe(1)
  })

  test('18.8 counts as recent only where the operator assumes it', async () => {
    const { start, leave, comeBack, browser } = await silentlySignedIn({ provider: { freshness: 'assumed' } })
    expect(nameOf((await start({ max_age: '600' }, browser)).page)).toBe('consent')
    expect(nameOf(await comeBack(await leave({ prompt: 'login' }, browser)))).toBe('consent')
  })

  test('20.42 changes nothing on the account page', async () => {
    const double = await createOpenIdDouble()
    const linkedProviders = upstream({ providers: [acmeOf(double)], fetch: double.fetch })
    const f = await setUpAccount({
      account: { linkedProviders },
      signIn: { ways: [linkedProviders], passwords: false },
      provider: { runtime: { now: realNow } },
    })
    const browser = f.browser()
    const away = await browser.open(accountUri)
    expect(away.url.origin).toBe(double.issuer)
    expect((await browser.open(double.authorize(away.url))).html).toContain('id="sessions"')
    const again = await browser.open(`${accountUri}/sessions/end-others`)
    expect([again.url.origin, again.url.searchParams.get('max_age')]).toEqual([double.issuer, '300'])
    const failed = await browser.open(double.authorize(again.url))
    expect(failed.html).toContain('Acme has not confirmed that you did')
    expect(failed.html).toContain('id="cancel"')
  })
})

describe('a provider that never proves a recent sign-in', () => {
  const octocat = async (secondFactors: NonNullable<Parameters<typeof setUpUpstream>[0]>['signIn'] = {}) => {
    const double = createGithubDouble()
    const providers = [github({ clientId: 'grantry', clientSecret: 'secret' })]
    const f = await setUpUpstream({
      options: { providers, fetch: double.fetch },
      signIn: { passwords: false, ...secondFactors },
      label: 'GitHub',
    })
    const signIn = async (demand: Readonly<Record<string, string>>, browser = f.browser()) => {
      const { page } = await f.start(demand, browser)
      return { browser, away: page, page: await browser.open(double.authorize(page.url)) }
    }
    return { ...f, signIn }
  }

  test('18.8 leads to a page with the way on, and not to the provider again', async () => {
    const { signIn, start } = await octocat()
    const { browser, page } = await signIn({})
    expect(nameOf(page)).toBe('consent')
    const { away, page: failed } = await signIn({ max_age: '600' }, browser)
    expect(away.url.host).toBe('github.com')
    expect(failed.html).toMatch(/^signIn .*"canCancel":true.*"problem":"provider_not_recent","provider":"GitHub"/u)
    expect(nameOf((await start({}, browser)).page)).toBe('consent')
  })

  test('18.8 suffices with a second factor, whose code is the proof', async () => {
    const factor = { amr: 'otp', isSetUp: () => true, verify: (_sub: string, code: string) => code === '123456' }
    const { signIn, start, provider } = await octocat({ secondFactors: [factor] })
    const { browser, page } = await signIn({ max_age: '0' })
    expect(nameOf(page)).toBe('secondFactor')
    // Without the code, there is no session.
    expect((await start({}, browser)).page.url.host).toBe('github.com')
    const fields = Object.fromEntries(
      [...page.html.matchAll(/name="([^"]+)" value="([^"]*)"/gu)].map(([, name = '', value = '']) => [name, value]),
    )
    const done = await browser.submit(`${provider.issuer}/connect/secondfactor`, { ...fields, code: '123456' })
    expect(nameOf(done)).toBe('consent')
    expect(nameOf((await start({ max_age: '600' }, browser)).page)).toBe('consent')
  })
})
