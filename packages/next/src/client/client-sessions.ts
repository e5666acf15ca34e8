import type { IDToken } from 'openid-client'
import type { Settings } from './client-options.ts'
import { type Cookies, cookieValue } from './cookies.ts'
import { createSeals } from './sealed.ts'

/** A user who is signed in. */
export interface SignInSession {
  readonly sub: string
  /** The claims of the identity token. */
  readonly claims: IDToken
  /** Epoch seconds: the user has to sign in again. */
  readonly endsAt: number
}

/** The tokens of a session, which stay at the server. */
export interface SessionTokens {
  readonly accessToken: string
  /** Epoch seconds. `undefined` if the provider does not state it. */
  readonly accessEndsAt: number | undefined
  readonly refreshToken: string | undefined
  readonly idToken: string
}

export interface StoredSession extends SignInSession {
  readonly id: string
  /** When the provider has issued the first identity token (epoch seconds, by its clock). */
  readonly startedAt: number
  readonly tokens: SessionTokens
}

export const now = (): number => Math.floor(Date.now() / 1000)

/** The sessions of signed-in users, by the cookies of their browsers. */
export interface ClientSessions {
  read(cookies: Cookies): Promise<StoredSession | undefined>
  /** Begins a session, and ends the one that the browser had. */
  begin(cookies: Cookies, session: StoredSession): Promise<void>
  /** Stores new tokens. With a store, no cookie changes. */
  renew(session: StoredSession): Promise<void>
  /** Sets the cookies of a renewed session, if they contain it. @throws where cookies cannot be set */
  write(cookies: Cookies, session: StoredSession): Promise<void>
  end(cookies: Cookies, session: StoredSession | undefined): Promise<void>
  /** Ends all sessions that a logout token names and that have begun before it. @param at its `iat` */
  endNamed(named: { readonly sid?: string | undefined; readonly sub?: string | undefined }, at: number): Promise<void>
}

const sidOf = ({ claims: { sid } }: Pick<SignInSession, 'claims'>): string | undefined =>
  typeof sid === 'string' ? sid : undefined

const endKey = (kind: 'id' | 'sid' | 'sub', value: string): string => `ended ${kind}:${value}`

export function createClientSessions(settings: Settings): ClientSessions {
  const { issuer, clientId, url, secrets, sessions: store, lifetime } = settings
  const seals = createSeals(secrets, ['session', issuer, clientId, url])
  const cookie = cookieValue('grantry-session', url.startsWith('https:'))

  /** A mark and not a removal: a refresh that is on its way would store the session again. */
  async function isEnded({ id, sub, claims, startedAt }: StoredSession): Promise<boolean> {
    const sid = sidOf({ claims })
    const [ended, endedSid, endedSub] = await Promise.all([
      store?.get(endKey('id', id)),
      sid === undefined ? undefined : store?.get(endKey('sid', sid)),
      store?.get(endKey('sub', sub)),
    ])
    return ended !== undefined || endedSid !== undefined || (endedSub !== undefined && Number(endedSub) >= startedAt)
  }

  async function opened(text: string | undefined): Promise<Record<string, unknown> | undefined> {
    return text === undefined ? undefined : seals.open(text)
  }

  async function read(cookies: Cookies): Promise<StoredSession | undefined> {
    const value = await opened(cookie.read(cookies))
    // An id without a session was written while there was a store.
    if (store === undefined) return typeof value?.sub === 'string' ? (value as unknown as StoredSession) : undefined
    if (value === undefined) return undefined
    const session = (await opened(await store.get(`session:${value.id}`))) as StoredSession | undefined
    return session === undefined || session.id !== value.id || (await isEnded(session)) ? undefined : session
  }

  async function renew(session: StoredSession): Promise<void> {
    await store?.set(`session:${session.id}`, await seals.seal({ ...session }, session.endsAt), session.endsAt)
  }

  async function write(cookies: Cookies, session: StoredSession): Promise<void> {
    const { id, endsAt } = session
    const value = store === undefined ? { ...session } : { id }
    cookie.write(cookies, await seals.seal(value, endsAt), Math.max(endsAt - now(), 1))
  }

  async function forget(session: StoredSession): Promise<void> {
    await store?.set(endKey('id', session.id), String(now()), session.endsAt)
    await store?.delete(`session:${session.id}`)
  }

  return {
    read,
    renew,
    write,
    async begin(cookies, session) {
      const former = await read(cookies)
      if (former !== undefined) await forget(former)
      await renew(session)
      await write(cookies, session)
    },
    async end(cookies, session) {
      if (session !== undefined) await forget(session)
      cookie.remove(cookies)
    },
    async endNamed({ sid, sub }, at) {
      // A session that has begun before has ended by then.
      const expiresAt = now() + lifetime
      if (sid !== undefined) return store?.set(endKey('sid', sid), String(at), expiresAt)
      const earlier = Number((await store?.get(endKey('sub', sub ?? ''))) ?? 0)
      // An earlier token that is sent again must not permit what a later one has ended.
      await store?.set(endKey('sub', sub ?? ''), String(Math.max(at, earlier)), expiresAt)
    },
  }
}
