/**
 * Attack: another site sends the forms of the sign-in in the browser of a victim (CSRF), with the fields of the victim or
 * of the attacker: to sign the victim in as the attacker (login CSRF), to consent, or to choose an account.
 *
 * RFC 6749 section 10.12; RFC 6819 section 4.4.1.8; RFC 9700 section 4.7.
 */
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields, type Page } from '../authorization/browser.ts'
import { request } from '../authorization/parties.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'

const session = '__Host-grantry-session'

type Form = Readonly<Record<string, string>>
type Step = 'signin' | 'consent' | 'accounts'

/** A victim with an open page of each step, and an attacker with the same pages. */
async function setUpForms() {
  const f = await setUpSignIn()
  async function openPages(user: string) {
    const browser = f.browser()
    const signedOut = await f.start({}, browser)
    const signin = signedOut.page
    const consent = await signedOut.enter(user)
    const accounts = (await f.start({ prompt: 'select_account' }, browser)).page
    const sid = /"id":"([\w-]+)"/u.exec(accounts.html)?.[1] ?? ''
    const choices: Record<Step, Form> = {
      signin: { username: user, password: `${user}-password` },
      consent: { decision: 'allow' },
      accounts: { account: sid },
    }
    const pages: Record<Step, Page> = { signin, consent, accounts }
    const formOf = (step: Step): Form => ({ ...hiddenFields(pages[step]), ...choices[step] })
    return { browser, pages, choices, formOf, submit: signedOut.submit }
  }
  const urlOf = (step: Step) => `${f.provider.issuer}/connect/${step}`
  return { ...f, urlOf, victim: await openPages('alice'), attacker: await openPages('bob') }
}

const steps: readonly Step[] = ['signin', 'consent', 'accounts']
const shownAgain: Record<Step, string> = { signin: 'signIn', consent: 'consent', accounts: 'chooseAccount' }

describe.each(steps)('the form of the step %s', (step) => {
  test('has no effect if another site sends it, also with the fields of the victim', async () => {
    const { provider, urlOf, victim, attacker } = await setUpForms()
    for (const form of [victim.formOf(step), attacker.formOf(step), { ...victim.formOf(step), decision: 'deny' }]) {
      // With SameSite=Lax, the browser sends no cookie.
      const body = new URLSearchParams(form)
      const response = await provider.fetch(new Request(urlOf(step), { method: 'POST', body }))
      expect([response.status, response.headers.getSetCookie()]).toEqual([400, []])
      expect(response.headers.get('location')).toBeNull()
    }
  })

  test('has no effect with the fields of the attacker, in the browser of the victim', async () => {
    const { urlOf, victim, attacker } = await setUpForms()
    const cookies = [...victim.browser.jar]
    const { status, headers } = await victim.browser.submit(urlOf(step), attacker.formOf(step))
    expect([status, headers.get('location'), [...victim.browser.jar]]).toEqual([400, null, cookies])
  })

  test('needs its token: none, a changed one, that of the attacker, or of another request or step', async () => {
    const { urlOf, victim, attacker, start } = await setUpForms()
    const cookies = [...victim.browser.jar]
    const { form_token: right = '', ...form } = victim.formOf(step)
    const others = steps
      .filter((otherStep) => otherStep !== step)
      .map((otherStep) => victim.formOf(otherStep).form_token ?? '')
    const elsewhere = hiddenFields((await start({ prompt: 'login' }, victim.browser)).page).form_token ?? ''
    const at = right.length - 20
    const changed = right.slice(0, at) + (right[at] === 'A' ? 'B' : 'A') + right.slice(at + 1)
    const foreign = attacker.formOf(step).form_token ?? ''
    for (const token of ['', 'x', `${right}x`, `${right}.x`, changed, foreign, elsewhere, ...others]) {
      const page = await victim.browser.submit(urlOf(step), { ...form, form_token: token })
      expect([nameOf(page), page.headers.get('location'), page.url.searchParams.has('code')]).toEqual([
        shownAgain[step],
        null,
        false,
      ])
    }
    expect([...victim.browser.jar]).toEqual(cookies)
  })

  test('is not accepted after its request has expired', async () => {
    const { urlOf, victim, clock } = await setUpForms()
    clock.advance(1800)
    const { status, headers } = await victim.browser.submit(urlOf(step), victim.formOf(step))
    expect([status, headers.get('location')]).toEqual([400, null])
  })

  test('is not accepted after its request was answered', async () => {
    const { urlOf, victim } = await setUpForms()
    await victim.browser.submit(urlOf(step), { ...victim.formOf(step), decision: 'deny' })
    for (const form of [victim.formOf(step), { ...victim.formOf(step), decision: 'deny' }]) {
      const { status, headers } = await victim.browser.submit(urlOf(step), form)
      expect([status, headers.get('location')]).toEqual([400, null])
    }
  })

  test('is not read from a URL', async () => {
    const { urlOf, victim } = await setUpForms()
    const cookies = [...victim.browser.jar]
    const page = await victim.browser.open(`${urlOf(step)}?${new URLSearchParams(victim.formOf(step))}`)
    // The address that the browser shows after the form: the page is shown again.
    expect([page.status, page.headers.get('location'), [...victim.browser.jar]]).toEqual([200, null, cookies])
  })

  test('leads to the host of the issuer, whatever the header Host contains', async () => {
    const { provider, urlOf, victim } = await setUpForms()
    const headers = {
      cookie: [...victim.browser.jar].map((pair) => pair.join('=')).join('; '),
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example;proto=http',
    }
    const url = urlOf(step).replace('id.example.com', 'evil.example')
    for (const form of [victim.formOf(step), { ...victim.formOf(step), form_token: '' }]) {
      const body = new URLSearchParams(form)
      const response = await provider.fetch(new Request(url, { method: 'POST', body, headers }))
      const seen = `${response.headers.get('location')} ${response.headers.getSetCookie().join()} ${await response.text()}`
      expect(seen).toMatch(/https:\/\/id\.example\.com|https:\/\/client\.example\.com|"error"|interaction_unknown/u)
      expect(seen).not.toContain('evil')
    }
  })
})

test('a victim who was signed out is not signed in as the attacker', async () => {
  const { urlOf, browser, attacker, start, provider } = await setUpForms()
  const victim = browser()
  const open = await start({}, victim)
  for (const form of [
    attacker.formOf('signin'),
    { ...attacker.formOf('signin'), interaction: hiddenFields(open.page).interaction ?? '' },
  ]) {
    await victim.submit(urlOf('signin'), form)
    expect(victim.jar.has(session)).toBe(false)
  }
  const interaction = attacker.formOf('signin').interaction ?? ''
  const resumed = await victim.open(`${provider.issuer}/connect/authorize/resume?interaction=${interaction}`)
  expect([resumed.status, victim.jar.has(session)]).toEqual([400, false])
  expect(nameOf((await start({}, victim)).page)).toBe('signIn')
})

test('a link never consents, chooses an account or ends a session', async () => {
  const { victim, provider } = await setUpForms()
  const more = { decision: 'allow', account: victim.choices.accounts.account ?? '', form_token: 'x' }
  const query = new URLSearchParams({ ...request, ...more, prompt: 'select_account consent' })
  const page = await victim.browser.open(`${provider.issuer}/connect/authorize?${query}`)
  expect(nameOf(page)).toBe('chooseAccount')
  const interaction = victim.formOf('consent').interaction ?? ''
  const resume = new URLSearchParams({ interaction, ...more })
  const resumed = await victim.browser.open(`${provider.issuer}/connect/authorize/resume?${resume}`)
  expect(nameOf(resumed)).toBe('consent')
  expect(answer(await victim.submit('consent', { decision: 'allow' }, resumed))).toHaveProperty('code')
})
