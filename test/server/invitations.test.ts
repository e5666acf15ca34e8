// Invitations of the ready server: by command and over the admin API, with mails that arrive by SMTP.
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { actionOf, titleOf } from '../self-service/parties.ts'
import { startServer } from '../support/patient-server.ts'
import { startSmtpServer } from '../support/smtp-server.ts'
import { written } from './doctor/configurations.ts'
import { printed } from './printed.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function open(signUp = 'invitation', more: object = {}) {
  const smtp = await startSmtpServer()
  closing.push(smtp.close)
  const { directory, file } = written({
    issuer: 'http://127.0.0.1:8484',
    storage: { driver: 'sqlite', file: 'grantry.db' },
    administration: true,
    clients: [
      {
        clientId: 'web',
        public: true,
        grantTypes: ['authorization_code'],
        scopes: ['openid'],
        redirectUris: ['http://127.0.0.1/callback'],
      },
    ],
    plugins: [
      { name: 'sign-in', accounts: { signUp }, account: {}, pages: { name: 'Example', locales: ['en', 'de'] } },
    ],
    mail: { url: smtp.url, from: 'Example <id@example.com>' },
    ...more,
  })
  const grantry = async (...args: readonly string[]) => printed('users', ...args, '--config', file)
  const linkIn = () => /http:\S+\/connect\/invitation\?\S+/u.exec(smtp.mails.at(-1)?.data ?? '')?.[0] ?? ''
  const start = async () => {
    const server = await startServer({
      loaded: await loadConfiguration(join(directory, 'grantry.config.json'), {}),
      port: 0,
      observe: () => {},
    })
    closing.unshift(() => server.close(0))
    return { provider: server.provider, browser: createBrowser(server.provider) }
  }
  return { smtp, grantry, linkIn, start }
}

describe('grantry users invite', () => {
  test('sends a link with which the user creates an account, and signs in', async () => {
    const { grantry, smtp, linkIn, start } = await open()
    const { out } = await grantry('invite', 'carol@example.com', '--name', 'Carol', '--locale', 'de')
    expect(out).toMatch(/^Invited carol@example\.com until \d{4}-.*Z\.\nid {2}[\w-]{43}\n$/u)
    expect(smtp.mails[0]?.data).toContain('Subject: Ihre Einladung zu Example')
    expect((await grantry('invitations', 'list')).out).toContain('carol@example.com')

    const { browser } = await start()
    const page = await browser.open(linkIn())
    const form = { ...hiddenFields(page), password: 'correct horse battery' }
    const done = await browser.submit(actionOf(page), form)
    expect(titleOf(done)).toBe('Your account is ready')
    expect(done.html).toContain('id="sign-in" class="way" href="http://127.0.0.1:8484/account/sign-in"')
    const signIn = await browser.open('http://127.0.0.1:8484/account/sign-in')
    const signedIn = await browser.submit(actionOf(signIn), {
      ...hiddenFields(signIn),
      username: 'carol@example.com',
      password: 'correct horse battery',
    })
    expect(signedIn.html).toContain('carol@example.com')
    expect((await grantry('invitations', 'list')).out).not.toContain('carol@example.com')
    const shown = JSON.parse((await grantry('show', 'carol@example.com', '--json')).out)
    expect(shown.claims).toEqual({ name: 'Carol', email: 'carol@example.com', email_verified: true })
    expect((await grantry('invite', 'Carol@example.com')).err).toContain('an account has this address already')
  })

  test('is withdrawn by its id', async () => {
    const { grantry, linkIn, start } = await open()
    const { id } = JSON.parse((await grantry('invite', 'carol@example.com', '--json')).out)
    expect((await grantry('invitations', 'withdraw', id)).out).toContain('Its link no longer works')
    expect((await grantry('invitations', 'withdraw', id)).err).toContain('no such invitation')
    const { browser } = await start()
    expect(titleOf(await browser.open(linkIn()))).toBe('This invitation no longer works')
  })

  test('says what the configuration lacks', async () => {
    const closed = await open('closed')
    expect((await closed.grantry('invite', 'carol@example.com')).err).toContain('accounts.signUp of the plugin sign-in')
    const withoutMail = await open('invitation', { mail: undefined })
    expect((await withoutMail.grantry('invite', 'carol@example.com')).err).toContain(
      'an invitation is a mail; set mail',
    )
    expect((await withoutMail.grantry('invitations', 'list')).out).toContain('ADDRESS')
  })
})
