// Accounts of the ready server on each runtime. The mails are sent by SMTP to a server on loopback, and read there.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { startProgram } from '../contract/program.ts'
import { titleOf } from '../self-service/parties.ts'
import { eventually } from '../support/eventually.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { createHttpBrowser } from '../support/sign-in.ts'
import { startSmtpServer } from '../support/smtp-server.ts'
import { readyServerProgram } from './ready-server.ts'

const redirectUri = 'https://shop.example.com/callback'

const configurationOf = (issuer: string, mailUrl: string) => ({
  issuer,
  storage: { driver: 'memory' },
  administration: true,
  clients: [
    {
      clientId: 'shop',
      public: true,
      grantTypes: ['authorization_code'],
      scopes: ['openid'],
      redirectUris: [redirectUri],
      requireConsent: false,
    },
  ],
  plugins: [{ name: 'sign-in', accounts: { signUp: 'open', mail: 'both' }, pages: { locales: ['en'] } }],
  mail: { url: mailUrl, from: 'Example <id@example.com>' },
})

const query = new URLSearchParams({
  client_id: 'shop',
  response_type: 'code',
  scope: 'openid',
  redirect_uri: redirectUri,
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
})

type Html = Pick<Page, 'html'>

/** A browser that begins a sign-in at a server. */
function visitor(issuer: string) {
  const { visit } = createHttpBrowser()
  const open = (url: string) => visit(unescapeHtml(url), redirectUri)
  const submit = (page: Html, fields: Readonly<Record<string, string>>) => {
    const action = unescapeHtml(/<form method="post" action="([^"]+)"/u.exec(page.html)?.[1] ?? '')
    return visit(action, redirectUri, { ...hiddenFields(page as Page), ...fields })
  }
  const begin = () => open(`${issuer}/connect/authorize?${query}`)
  const ask = async (id: string, address: string) => {
    const { html } = await begin()
    const link = new RegExp(`id="${id}" href="([^"]+)"`, 'u').exec(html)?.[1] ?? ''
    return submit(await open(link), { address })
  }
  return { open, submit, begin, ask }
}

function testOn([command = '', ...parameters]: readonly string[]): void {
  let directory = ''
  let smtp: Awaited<ReturnType<typeof startSmtpServer>>
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'grantry-accounts-'))
    smtp = await startSmtpServer()
  })
  afterAll(() => Promise.all([smtp?.close(), rm(directory, { recursive: true, force: true })]))

  test('a user creates an account, chooses another password, and signs in with a link', async () => {
    const port = await reservedPort()
    const issuer = `http://127.0.0.1:${port}`
    const file = join(directory, 'grantry.config.json')
    await writeFile(file, JSON.stringify(configurationOf(issuer, smtp.url)))
    const server = await startProgram(command, [...parameters, await readyServerProgram(), file, String(port)])
    const arrived = async (count: number) => {
      await eventually(() => expect(smtp.mails).toHaveLength(count))
      return smtp.mails.at(-1)?.data ?? ''
    }
    const linkIn = async (count: number) => /http:\S+\/connect\/mailed\?\S+/u.exec(await arrived(count))?.[0] ?? ''
    const isSignedIn = ({ url }: { readonly url: string }) => new URL(url).searchParams.has('code')
    try {
      const created = visitor(issuer)
      await created.ask('create', 'carol@example.com')
      const password = 'correct horse battery'
      expect(isSignedIn(await created.submit(await created.open(await linkIn(1)), { password }))).toBe(true)

      const forgot = visitor(issuer)
      await forgot.ask('forgot', 'carol@example.com')
      const page = await forgot.open(await linkIn(2))
      expect(titleOf(page as unknown as Page)).toBe('Choose a new password')
      expect(isSignedIn(await forgot.submit(page, { password: 'another correct horse' }))).toBe(true)
      expect(await arrived(3)).toContain('Subject: Your password was changed')

      const byName = visitor(issuer)
      const old = await byName.submit(await byName.begin(), { username: 'carol@example.com', password })
      expect(isSignedIn(old)).toBe(false)

      const byMail = visitor(issuer)
      await byMail.ask('by-mail', 'carol@example.com')
      expect(isSignedIn(await byMail.submit(await byMail.open(await linkIn(4)), {}))).toBe(true)
    } finally {
      await server.stop()
    }
  })
}

const bun = [runtimeExecutable('.bin/bun')]
const deno = [runtimeExecutable('.bin/deno'), 'run', '--allow-all', '--no-config', '--no-lock']

describe('on Node.js', () => testOn([process.execPath]))
describeWithRuntime('on Bun', bun[0] ?? '', () => testOn(bun))
describeWithRuntime('on Deno', deno[0] ?? '', () => testOn(deno))
