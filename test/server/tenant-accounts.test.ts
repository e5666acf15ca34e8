// People of tenants in the ready server: accounts with mails, sign-ins at another provider, and the page of the account.
import { parseConfiguration } from '@grantry/core'
import { afterEach, describe, expect, test } from 'vitest'
import { createBrowser, hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { actionOf, linkOf, titleOf } from '../self-service/parties.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { startSmtpServer } from '../support/smtp-server.ts'
import { fetchAt } from '../tenants/fetch-at.ts'
import { startDoubleServer } from '../upstream/double-server.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const redirectUri = 'http://127.0.0.1/callback'
const spa = {
  clientId: 'spa',
  public: true,
  grantTypes: ['authorization_code'],
  scopes: ['openid', 'email'],
  redirectUris: [redirectUri],
  requireConsent: false,
}
const query = new URLSearchParams({
  client_id: 'spa',
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: 'openid email',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
})
const mailedLink = (mail: string | undefined): string =>
  /https?:\/\/\S+\/connect\/mailed\?\S+/u.exec(mail ?? '')?.[0] ?? ''

const settings = {
  path: { issuer: 'http://localhost:8484', names: ['acme', 'beta'], at: 'http://localhost:8484/t/' },
  host: { issuer: 'https://id.example.com', names: ['id.acme.example', 'id.beta.example'], at: 'https://' },
} as const

async function start(by: 'path' | 'host', hasMail = true) {
  const { issuer, names, at } = settings[by]
  const double = await startDoubleServer({ claims: { email: 'dave@example.com', email_verified: true } })
  const smtp = await startSmtpServer()
  closing.push(double.close, smtp.close)
  const acme = { name: 'acme', issuer: double.issuer, clientId: 'grantry', clientSecret: 'secret' }
  const signIn = {
    name: 'sign-in',
    accounts: { signUp: 'open' },
    account: {},
    passkeys: true,
    providers: [{ ...acme, allowPrivateAddresses: true }],
    pages: { name: 'Example', locales: ['en'] },
  }
  const content = {
    issuer,
    storage: { driver: 'memory' },
    administration: true,
    clients: [spa],
    ...(hasMail && { mail: { url: smtp.url, from: 'id@example.com' } }),
    plugins: [signIn],
    tenants: { by, list: names.map((name) => ({ name, clients: [spa] })) },
  }
  const configuration = parseConfiguration(configurationSchema, content, '')
  const loaded = { configuration, file: 'grantry.config.json', directory: '.' }
  const server = await startServer({ loaded, port: 0, observe: () => {} })
  closing.unshift(() => server.close(0))
  const fetch = fetchAt(server.running.port)

  function person(tenant: string) {
    const browser = createBrowser({ fetch, issuer: tenant })
    const begin = () => browser.open(`${tenant}/connect/authorize?${query}`)
    const submit = (page: Page, form: Readonly<Record<string, string>>) =>
      browser.submit(actionOf(page), { ...hiddenFields(page), ...form })
    const ask = async (id: string, address: string) =>
      submit(await browser.open(linkOf(await begin(), id)), { address })
    return { browser, begin, submit, ask }
  }
  /** Returns the newest mail, when there are `count`. */
  const mail = async (count: number): Promise<string> => {
    await expect.poll(() => smtp.mails.length).toBe(count)
    return smtp.mails.at(-1)?.data ?? ''
  }
  const [first, second] = names.map((name) => at + name)
  return { fetch, double, person, mail, server: issuer, first: first as string, second: second as string }
}

const isDone = ({ url }: Page): boolean => url.searchParams.has('code')

describe.each(['path', 'host'] as const)('tenants by %s', (by) => {
  test('have accounts of their own, with links of their issuer in mails', async () => {
    const { person, mail, first, second, server } = await start(by)
    const carol = person(first)
    await carol.ask('create', 'carol@example.com')
    const link = mailedLink(await mail(1))
    expect(link.startsWith(`${first}/connect/mailed?`)).toBe(true)
    const password = 'correct horse battery'
    expect(isDone(await carol.submit(await carol.browser.open(link), { password }))).toBe(true)
    for (const elsewhere of [second, server]) {
      const stranger = person(elsewhere)
      const refused = await stranger.submit(await stranger.begin(), { username: 'carol@example.com', password })
      expect([isDone(refused), titleOf(refused)]).toEqual([false, 'Sign in'])
    }
    // The address is not taken at the other tenant.
    await person(second).ask('create', 'carol@example.com')
    expect(mailedLink(await mail(2)).startsWith(`${second}/connect/mailed?`)).toBe(true)
    const again = person(first)
    expect(isDone(await again.submit(await again.begin(), { username: 'carol@example.com', password }))).toBe(true)
  })

  test('sign users in at another provider, which sends them back to the tenant', async () => {
    const { person, double, first, second } = await start(by)
    const { browser, begin } = person(first)
    const away = await browser.open(unescapeHtml(/href="([^"]*upstream[^"]*)"/u.exec((await begin()).html)?.[1] ?? ''))
    expect(away.url.searchParams.get('redirect_uri')?.startsWith(`${first}/connect/`)).toBe(true)
    expect(isDone(await browser.open(double.authorize(away.url)))).toBe(true)
    expect(titleOf(await person(second).begin())).toBe('Sign in')
  })

  test('have a page of the account, which changes what belongs to the tenant', async () => {
    const { person, mail, first, second, server } = await start(by)
    const password = 'correct horse battery'
    const [carol, elsewhere] = [person(first), person(first)]
    await carol.ask('create', 'carol@example.com')
    await carol.submit(await carol.browser.open(mailedLink(await mail(1))), { password })
    const account = `${first}/account`
    expect((await carol.browser.open(account)).html).toContain('carol@example.com')
    await elsewhere.submit(await elsewhere.begin(), { username: 'carol@example.com', password })
    const { html } = await carol.browser.open(account)
    const links = [...html.matchAll(/(?:href|action)="(http[^"]*)"/gu)].map(([, url = '']) => url)
    expect(links.filter((url) => !url.startsWith(`${account}/`))).toEqual([])
    const end = `${account}/sessions/end-others`
    expect(links).toEqual(expect.arrayContaining([end, `${account}/passkeys/add`]))
    await carol.browser.submit(end, hiddenFields(await carol.browser.open(end)))
    expect(titleOf(await elsewhere.begin())).toBe('Sign in')
    expect((await carol.browser.open(account)).html).toContain('id="sessions"')
    for (const at of [second, server]) {
      expect((await carol.browser.open(`${at}/account`)).html).not.toContain('id="sessions"')
    }
  })
})

test('each tenant of a development server has an outbox', async () => {
  const { person, fetch, first, second, server } = await start('path', false)
  await person(first).ask('create', 'carol@example.com')
  const outbox = async (at: string) => (await fetch(new Request(`${at}/outbox`))).text()
  await expect.poll(() => outbox(first)).toContain(`<a href="${first}/connect/mailed?`)
  for (const elsewhere of [second, server]) {
    const html = await outbox(elsewhere)
    expect(html).toContain('There are no mails.')
  }
})
