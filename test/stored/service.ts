import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { basic, type Credentials, sha256Of } from '@grantry/testing'
import { codeAt, secretIn } from '../account/factors.ts'
import { createBrowser, hiddenFields, type Page } from '../authorization/browser.ts'
import { printedWith } from '../server/printed.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { proof } from '../support/fixture.ts'
import { patient } from '../support/network-stores.ts'
import { startServer } from '../support/patient-server.ts'
import { newDirectory } from '../support/server-program.ts'

const issuer = 'http://127.0.0.1:8484'
const redirectUri = 'https://web.example.com/callback'
const password = 'a password of alice'
const web: Credentials = ['web', 'web-secret']
const api: Credentials = ['api1', 'api1-secret']
const content = {
  issuer,
  keys: { encryptionSecret: 'a-secret-of-thirty-two-characters' },
  administration: true,
  clients: [
    {
      clientId: web[0],
      secrets: [{ sha256: sha256Of(web[1]) }],
      grantTypes: ['authorization_code', 'refresh_token'],
      scopes: ['openid', 'offline_access', 'api1'],
      redirectUris: [redirectUri],
      accessTokenFormat: 'reference',
      refreshToken: { retryWindow: 0 },
    },
  ],
  scopes: [{ name: 'api1', secrets: [{ sha256: sha256Of(api[1]) }] }],
  plugins: [
    {
      name: 'sign-in',
      account: {},
      secondFactors: { encryptionSecrets: ['x'.repeat(32)] },
    },
  ],
}

/** What a client, a browser and an app have of what is stored. */
export interface Holdings {
  /** Milliseconds since the epoch. */
  readonly writtenAt: number
  readonly cookies: readonly (readonly [string, string])[]
  readonly refreshToken: string
  readonly spentRefreshToken: string
  readonly revokedRefreshToken: string
  readonly accessToken: string
  readonly identityToken: string
  readonly totpSecret: string
  readonly addedClient: Credentials
}

/** The ready server on a storage, in this process. */
export async function startService(storage: object) {
  const file = join(newDirectory(), 'grantry.config.json')
  writeFileSync(file, JSON.stringify({ ...content, storage: patient(storage) }))
  const configuration = parseConfiguration(configurationSchema, { ...content, storage: patient(storage) }, '')
  const loaded = { configuration, file, directory: '.' }
  const server = await startServer({ loaded, port: 0, observe: () => {} })
  const { provider } = server

  const command = (input: string, ...words: readonly string[]) => printedWith({ input }, ...words, '--config', file)
  async function post(path: string, form: Readonly<Record<string, string>>, as: Credentials = web) {
    const headers = { authorization: basic(as) }
    const request = new Request(`${issuer}/connect/${path}`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(form),
    })
    const response = await provider.fetch(request, { clientAddress: '192.0.2.1' })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
  const authorizeUri = (more: Readonly<Record<string, string>> = {}): string =>
    `${issuer}/connect/authorize?${new URLSearchParams({
      client_id: web[0],
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid offline_access api1',
      code_challenge: proof.challenge,
      code_challenge_method: 'S256',
      ...more,
    })}`
  const redeem = (code: string | null) =>
    post('token', {
      grant_type: 'authorization_code',
      code: code ?? '',
      redirect_uri: redirectUri,
      code_verifier: proof.verifier,
    })
  const refresh = (refresh_token: string) => post('token', { grant_type: 'refresh_token', refresh_token })
  const newBrowser = () => createBrowser(provider)
  type Browser = ReturnType<typeof newBrowser>
  const send = (browser: Browser, page: Page, to: string, fields: Readonly<Record<string, string>>) =>
    browser.submit(to, { ...hiddenFields(page), ...fields })
  const enter = async (browser: Browser, page: Page) =>
    send(browser, page, `${issuer}/connect/signin`, { username: 'alice', password })

  return {
    command,
    post,
    redeem,
    refresh,
    newBrowser,
    authorizeUri,
    enter,
    send,
    isActive: async (token: string) => (await post('introspect', { token }, api)).body.active,
    keys: async () => (await provider.handlers.jwks(new Request(`${issuer}/.well-known/jwks`))).json(),
    close: () => server.close(0),
  }
}
export type Service = Awaited<ReturnType<typeof startService>>

/** Fills a storage with everything that a service keeps for long. */
export async function fill(service: Service): Promise<Holdings> {
  const { command, newBrowser, enter, send, redeem, refresh, authorizeUri, post } = service
  await command(password, 'users', 'add', 'alice', '--sub', '1')
  const words = ['clients', 'add', 'job', '--grant', 'client_credentials', '--scope', 'api1', '--json']
  const added = await command('', ...words)
  const browser = newBrowser()
  const tokensOf = async () => {
    let page = await browser.open(authorizeUri())
    if (page.html.includes('name="password"')) page = await enter(browser, page)
    if (page.html.includes('value="allow"')) {
      page = await send(browser, page, `${issuer}/connect/consent`, { decision: 'allow' })
    }
    const { body } = await redeem(page.url.searchParams.get('code'))
    if (body.refresh_token === undefined) throw new Error(`no tokens: ${JSON.stringify(body)} ${page.html}`)
    return body
  }
  const first = await tokensOf()
  const second = (await refresh(first.refresh_token)).body
  const revoked = await tokensOf()
  await post('revocation', { token: revoked.refresh_token })
  const kept = await tokensOf()
  const spent = await tokensOf()
  await refresh(spent.refresh_token)
  const page = await browser.open(`${issuer}/account/otp/set-up`)
  const totpSecret = secretIn(page)
  const now = Math.floor(Date.now() / 1000)
  const done = await send(browser, page, page.url.href, { code: codeAt(totpSecret, now) })
  if (totpSecret === '' || done.status !== 200) throw new Error(`no app was set up: ${done.status} ${page.html}`)
  await command('', 'keys', 'rotate', '--force')
  return {
    writtenAt: Date.now(),
    cookies: [...browser.jar],
    refreshToken: second.refresh_token,
    spentRefreshToken: spent.refresh_token,
    revokedRefreshToken: revoked.refresh_token,
    accessToken: kept.access_token,
    identityToken: kept.id_token,
    totpSecret,
    addedClient: ['job', /"secret": *"([^"]+)"/u.exec(added.out)?.[1] ?? ''],
  }
}
