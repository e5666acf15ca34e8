import { type AtomicDriver, openEntries, storedKeys } from '@grantry/core'
import { storeGrant } from '@grantry/testing'
import { codeAt, encryptionSecrets, setUpFactors } from '../account/factors.ts'
import { accountUri, issuer } from '../account/parties.ts'
import { hiddenFields } from '../authorization/browser.ts'
import { redirectUri, web } from '../authorization/parties.ts'

const keys = () => storedKeys({ encryptionSecret: encryptionSecrets[0] ?? '' })
const audited = 'a-change'

/**
 * A service on this storage, with what an operator must not lose, such as the authenticator app of alice, and what an
 * attacker would like to use again.
 */
export async function serviceBefore(storage: AtomicDriver) {
  const f = await setUpFactors({ storage, keys: keys() })
  const { browser } = await f.signedIn()
  const { secret } = await f.setUpApp(browser)
  const tokens = await f.authorize(browser)
  const code = await storeGrant(f.provider, {
    kind: 'code',
    clientId: web[0],
    redirectUri,
    scopes: ['openid', 'api1', 'offline_access'],
    subject: { sub: 'sub of alice', amr: ['pwd', 'otp'] },
    params: {},
  })
  const entries = openEntries({ issuer, storage })
  await entries.create('audit', audited, { action: 'create' })
  await entries.create('client', 'stored', { clientId: 'stored' })
  const { access_token, refresh_token } = tokens.body as Record<string, string>
  const taken = { code, access: access_token ?? '', refresh: refresh_token ?? '', cookies: new Map(browser.jar) }

  /** What happens after the backup: the code and the refresh token are used, and all is revoked. */
  async function continueService(): Promise<void> {
    const redeemed = await f.post('token', redemption(code), web)
    const refreshed = await f.post('token', { grant_type: 'refresh_token', refresh_token: taken.refresh }, web)
    await f.provider.revoke({ subject: 'sub of alice' })
    if (redeemed.status !== 200 || refreshed.status !== 200)
      throw new Error('The code or the refresh token was refused')
    await f.provider.close()
  }
  return { clock: f.clock, secret, taken, continueService }
}

const redemption = (code: string) => ({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })

type Before = Awaited<ReturnType<typeof serviceBefore>>

/** The service on a storage that was restored, and what an attacker and a user reach with what they had. */
export async function serviceAfter(storage: AtomicDriver, { clock, secret, taken }: Before) {
  // Codes live a minute, passwords of the app half a minute.
  clock.advance(31)
  const f = await setUpFactors({ storage, keys: keys(), runtime: { now: clock.now } })
  const thief = f.browser()
  for (const [name, value] of taken.cookies) thief.jar.set(name, value)
  const session = await thief.open(accountUri)
  const spent = {
    code: (await f.post('token', redemption(taken.code), web)).status,
    refresh: (await f.post('token', { grant_type: 'refresh_token', refresh_token: taken.refresh }, web)).status,
    access: (await f.get('userinfo', {}, { authorization: `Bearer ${taken.access}` })).status,
    session: session.html.includes('Signed in as alice<'),
  }
  const browser = f.browser()
  const asked = await f.enter(browser, await browser.open(accountUri))
  const fields = { ...hiddenFields(asked), code: codeAt(secret, Math.floor(clock.now())) }
  const page = await browser.submit(`${issuer}/connect/secondfactor`, fields)
  const query = new URLSearchParams({
    client_id: web[0],
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
  })
  const consent = await browser.open(`${issuer}/connect/authorize?${query}`)
  const entries = openEntries({ issuer, storage })
  const kept = {
    asksForFactor: asked.html.includes('Confirm that it is you'),
    signsIn: page.html.includes('Signed in as alice<'),
    consent: consent.url.href.startsWith(redirectUri),
    audit: (await entries.get('audit', audited)) !== undefined,
    client: (await entries.get('client', 'stored')) !== undefined,
  }
  await f.provider.close()
  return { spent, kept }
}

export const allRefused = { code: 400, refresh: 400, access: 401, session: false }
export const allKept = { asksForFactor: true, signsIn: true, consent: true, audit: true, client: true }
