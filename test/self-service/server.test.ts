// Accounts in the ready server: users in the storage, and mails read from an SMTP server.
import { parseConfiguration } from '@grantry/core'
import { afterEach, describe, expect, test } from 'vitest'
import { createBrowser, hiddenFields, type Page } from '../authorization/browser.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { startSmtpServer } from '../support/smtp-server.ts'
import { actionOf, linkOf, titleOf } from './parties.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const content = {
  issuer: 'http://127.0.0.1:8484',
  storage: { driver: 'memory' },
  clients: [
    {
      clientId: 'spa',
      public: true,
      grantTypes: ['authorization_code'],
      scopes: ['openid', 'email'],
      redirectUris: ['http://127.0.0.1/callback'],
    },
  ],
  administration: true,
  plugins: [{ name: 'sign-in', accounts: { signUp: 'open' }, pages: { name: 'Example', locales: ['en'] } }],
}

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

async function start(more: object = {}) {
  const configuration = parseConfiguration(configurationSchema, { ...content, ...more }, '')
  const server = await startServer({
    loaded: { configuration, file: 'grantry.config.json', directory: '.' },
    port: 0,
    observe: () => {},
  })
  closing.unshift(() => server.close(0))
  const { provider, running } = server
  const query = new URLSearchParams({
    client_id: 'spa',
    redirect_uri: 'http://127.0.0.1/callback',
    response_type: 'code',
    scope: 'openid email',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const browser = createBrowser(provider)
  const begin = () => browser.open(`${provider.issuer}/connect/authorize?${query}`)
  const submit = (page: Page, form: Readonly<Record<string, string>>) =>
    browser.submit(actionOf(page), { ...hiddenFields(page), ...form })
  const ask = async (id: string, address: string) => submit(await browser.open(linkOf(await begin(), id)), { address })
  return { provider, port: running.port, browser, begin, submit, ask }
}

async function withMails() {
  const smtp = await startSmtpServer()
  closing.push(smtp.close)
  const f = await start({ mail: { url: smtp.url, from: 'Example <id@example.com>' } })
  /** Returns the link in the newest mail, when there are `count`. */
  const mailedLink = async (count: number): Promise<string> => {
    await expect.poll(() => smtp.mails.length).toBe(count)
    return /http:\/\/127\.0\.0\.1:8484\/connect\/mailed\?\S+/u.exec(smtp.mails.at(-1)?.data ?? '')?.[0] ?? ''
  }
  return { ...f, smtp, mailedLink }
}

describe('accounts of the server', () => {
  test('are created and recovered with mails that arrive by SMTP', async () => {
    const { begin, submit, ask, browser, smtp, mailedLink } = await withMails()
    expect((await ask('create', 'Carol@example.com')).html).not.toContain('outbox')
    const consent = await submit(await browser.open(await mailedLink(1)), { password: 'correct horse battery' })
    expect(consent.html).toContain('Signed in as Carol@example.com')
    expect((await submit(consent, { decision: 'allow' })).url.searchParams.has('code')).toBe(true)
    expect(smtp.mails[0]).toMatchObject({ to: ['Carol@example.com'], from: 'id@example.com' })
    browser.jar.clear()
    await ask('create', 'carol@example.com')
    expect(await mailedLink(2)).toBe('')
    expect(smtp.mails[1]?.data).toContain('Subject: You already have an account')
    await ask('forgot', 'CAROL@example.com')
    const page = await browser.open(await mailedLink(3))
    expect((await submit(page, { password: 'password-12345' })).html).toContain('attackers try first')
    expect((await submit(page, { password: 'another correct horse' })).html).toContain('Signed in as')
    await mailedLink(4)
    expect(smtp.mails[3]?.data).toContain('Subject: Your password was changed')
    browser.jar.clear()
    const old = await submit(await begin(), { username: 'carol@example.com', password: 'correct horse battery' })
    expect(titleOf(old)).toBe('Sign in')
    const now = await submit(await begin(), { username: 'carol@example.com', password: 'another correct horse' })
    expect(now.html).toContain('Signed in as')
  })

  test('of a development server are shown at /outbox, to this machine only', async () => {
    const { port, provider, ask } = await start()
    const sent = await ask('create', 'carol@example.com')
    expect(sent.html).toContain('<a href="http://127.0.0.1:8484/outbox"')
    await provider.runTasks()
    const outbox = `http://127.0.0.1:${port}/outbox`
    const html = await (await fetch(outbox)).text()
    expect(html).toContain('To carol@example.com')
    expect(html).toMatch(/<a href="http:\/\/127\.0\.0\.1:8484\/connect\/mailed\?/u)
    expect((await fetch(outbox, { headers: { 'x-forwarded-for': '198.51.100.7' } })).status).toBe(403)
    expect((await fetch(outbox, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
  })

  test.each([
    [
      { issuer: 'https://id.example.com' },
      'plugins[0] ("sign-in").accounts: accounts send mails; set mail.url and mail.from',
    ],
    [
      { administration: false },
      'plugins[0] ("sign-in").accounts: accounts are in the storage; set "administration": true',
    ],
    [{ users: { authenticate: () => undefined } }, 'plugins[0] ("sign-in").accounts: users come from a user service'],
  ])('need what the configuration lacks: %j', async (more, message) => {
    await expect(start(more)).rejects.toThrow(message)
  })
})
