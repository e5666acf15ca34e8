import { createHash, randomBytes } from 'node:crypto'
import { basic } from '@grantry/testing'
import { createHttpBrowser, signInOverHttp } from '../../test/support/sign-in.ts'
import { client, credentialsOf, issuer, redirectUri, scope } from './setting.ts'

/** How a sign-in ended. `interrupted`: a server was killed while it had one of the requests. */
export type Outcome = 'signed in' | 'interrupted' | 'failed'

/** One sign-in, from the request of the client to its tokens. */
export interface SignIn {
  readonly outcome: Outcome
  /** Why it failed. */
  readonly problem?: string
  /** How often the code was redeemed. */
  readonly redemptions: number
}

/** Requests that present each code, at the same moment. */
const redeemers = 3

/** A user with a browser of their own, who reaches the service through a proxy. */
export function createVisitor(user: number, origin: string) {
  const address = `10.${(user >> 16) & 255}.${(user >> 8) & 255}.${user & 255}`
  let wasInterrupted = false

  async function send(url: string, init: RequestInit) {
    const headers = { ...init.headers, 'x-forwarded-for': address }
    const response = await fetch(url.replace(issuer, origin), { ...init, headers })
    if (response.status === 502) wasInterrupted = true
    return { status: response.status, headers: response.headers, body: await response.text() }
  }
  const browser = createHttpBrowser(send)

  async function redeem(code: string, verifier: string): Promise<number> {
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
    const init = { method: 'POST', headers: { authorization: basic(client) }, body: new URLSearchParams(form) }
    return (await send(`${issuer}/connect/token`, init)).status
  }

  async function attempt(): Promise<Omit<SignIn, 'outcome'>> {
    const [state, verifier] = [randomBytes(16).toString('hex'), randomBytes(32).toString('base64url')]
    const request = {
      client_id: client[0],
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      // The user at another provider, if there is one.
      login_hint: credentialsOf(user)[0],
    }
    const { searchParams } = await signInOverHttp(issuer, request, credentialsOf(user), browser)
    const code = searchParams.get('code')
    if (code === null || searchParams.get('state') !== state) {
      return { redemptions: 0, problem: `the response was ${searchParams}` }
    }
    const statuses = await Promise.all(Array.from({ length: redeemers }, () => redeem(code, verifier)))
    const redemptions = statuses.filter((status) => status === 200).length
    return { redemptions, ...(redemptions === 0 && { problem: `the code was refused: ${statuses}` }) }
  }

  return {
    /** Signs in, with the cookies of earlier times. */
    async signIn(): Promise<SignIn> {
      wasInterrupted = false
      const { redemptions, problem } = await attempt().catch((error: unknown) => ({
        redemptions: 0,
        problem: String(error),
      }))
      if (problem === undefined) return { outcome: 'signed in', redemptions }
      return { outcome: wasInterrupted ? 'interrupted' : 'failed', redemptions, problem }
    },
  }
}
