import { createHash, randomBytes } from 'node:crypto'
import { basic, type Credentials } from '@grantry/testing'
import { createHttpBrowser, signInOverHttp } from '../../test/support/sign-in.ts'
import { credentialsOf } from '../sign-in/setting.ts'
import { api, issuer, redirectUri, scope } from './setting.ts'

/** Returns the origin of the server that receives the next request. */
export type NextServer = () => string

export interface Reply {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** The parameters that redeem a credential. */
export type Form = Readonly<Record<string, string>>

/** Posts a form to an endpoint of a server. */
export async function post(origin: string, path: string, form: Form, as: Credentials): Promise<Reply> {
  const response = await fetch(`${origin}/connect/${path}`, {
    method: 'POST',
    headers: { authorization: basic(as), 'x-forwarded-for': '10.0.0.1' },
    body: new URLSearchParams(form),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}

export const refreshForm = (token: unknown): Form => ({ grant_type: 'refresh_token', refresh_token: String(token) })

/** Whether a server knows an access token as active. */
export async function isActive(origin: string, token: unknown): Promise<boolean> {
  const { body } = await post(origin, 'introspect', { token: String(token) }, api)
  return body.active === true
}

/** A user with a browser, whose requests can reach servers of both versions. */
export function createUser(number: number) {
  const address = `10.1.${(number >> 8) & 255}.${number & 255}`
  let next: NextServer = () => ''
  const browser = createHttpBrowser(async (url, init) => {
    const headers = { ...init.headers, 'x-forwarded-for': address }
    const response = await fetch(url.replace(issuer, next()), { ...init, headers })
    return { status: response.status, headers: response.headers, body: await response.text() }
  })

  return {
    /**
     * Signs in, or uses the session that the browser has, and returns the form that redeems the code.
     *
     * @param more parameters of the request, such as `prompt`
     * @throws Error with what the servers responded
     */
    async code(servers: NextServer, [clientId]: Credentials, more: Form = {}): Promise<Form> {
      next = servers
      const verifier = randomBytes(32).toString('base64url')
      const request = {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...more,
      }
      const { searchParams } = await signInOverHttp(issuer, request, credentialsOf(number), browser)
      const code = searchParams.get('code')
      if (code === null) throw new Error(`the response was ${searchParams}`)
      return { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
    },
  }
}
