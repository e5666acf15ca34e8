/**
 * Attack: a request of a session is in progress when the session ends, or its user is revoked: a request for a code, a consent, or
 * the redemption of a code. The act comes before each one of the storage calls of the request.
 *
 * After a revocation, the request gives nothing, at whichever call it comes. A sign-out ends the session, and no code and no token
 * that it has led to: one that is issued by a request in progress is worth what one of a moment before is. So it may still be
 * issued, but no session continues, and a revocation ends it.
 *
 * docs/decisions/0022-revocation-by-epochs.md
 */
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { request, web } from '../authorization/parties.ts'
import { setUpSignIn } from '../sign-in/parties.ts'
import { atEachCall, interruptible } from '../support/interrupted.ts'

const asked = { scope: 'openid offline_access' }

/** A service, and another process with its storage. */
async function setUpService() {
  const store = memoryDriver()
  const driver = interruptible(store)
  const f = await setUpSignIn({}, { storage: driver.storage })
  const otherProcess = await setUpSignIn({}, { storage: store })
  return { ...f, driver, otherProcess }
}

type Service = Awaited<ReturnType<typeof setUpService>>
type Browser = ReturnType<Service['browser']>

async function signedIn(f: Service, parameters = {}) {
  const { browser, submit, enter } = await f.start({ ...asked, ...parameters })
  const consent = await enter('alice')
  return { browser, allow: () => submit('consent', { decision: 'allow' }, consent) }
}

/** Returns what sends the request. It resolves to the tokens that come of it in the end. */
const requests: Readonly<Record<string, (f: Service) => Promise<{ browser: Browser; send: () => Promise<unknown> }>>> =
  {
    async 'a consent'(f) {
      const { browser, allow } = await signedIn(f, { prompt: 'consent' })
      return { browser, send: async () => answer(await allow()).code }
    },
    async 'a request for a code'(f) {
      const { browser, allow } = await signedIn(f, { prompt: 'consent' })
      await allow()
      const url = f.urlOf({ ...request, ...asked, prompt: 'none' })
      return { browser, send: async () => answer(await browser.open(url)).code }
    },
    async 'the redemption of a code'(f) {
      const { browser, allow } = await signedIn(f, { prompt: 'consent' })
      const { code } = answer(await allow())
      return { browser, send: async () => (await f.redeem(String(code))).body.refresh_token }
    },
  }

const endSessions = async ({ provider }: Pick<Service, 'provider'>) => {
  const sessions = provider.use(userSessions)
  for (const { sid } of await sessions.list('alice')) await sessions.end(sid)
}

const acts: Readonly<Record<string, (f: Pick<Service, 'provider'>) => Promise<unknown>>> = {
  'a revocation': ({ provider }) => provider.revoke({ subject: 'alice' }),
  'the end of the session': endSessions,
  'the end of all sessions': ({ provider }) => provider.use(userSessions).endAll('alice'),
}

const cases = Object.keys(requests).flatMap((name) => Object.keys(acts).map((act) => [name, act] as const))

test.each(cases)('%s gives nothing more than before, after %s in another process', async (name, act) => {
  const f = await setUpService()
  const outcomes = await atEachCall(async (calls) => {
    const begun = await requests[name]?.(f)
    const done = await f.driver.during(
      calls,
      async () => acts[act]?.(f.otherProcess),
      async () => ({ credential: await begun?.send() }),
    )
    if (done === undefined) return undefined
    const isToken = name.startsWith('the redemption')
    const form = { grant_type: 'refresh_token', refresh_token: String(done.credential) }
    const body =
      done.credential === undefined
        ? {}
        : isToken
          ? (await f.post('token', form, web)).body
          : (await f.redeem(String(done.credential))).body
    // No session continues, and what was issued ends with a revocation.
    const silent = answer((await begun?.browser.open(f.urlOf({ ...request, ...asked, prompt: 'none' }))) as never)
    await f.otherProcess.provider.revoke({ subject: 'alice' })
    const later = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }
    return {
      gives: body.access_token !== undefined,
      session: silent.code !== undefined,
      lasts: (await f.post('token', later, web)).body.access_token !== undefined,
    }
  })
  expect(outcomes.length).toBeGreaterThan(3)
  expect(outcomes.filter(({ session, lasts }) => session || lasts)).toEqual([])
  if (act === 'a revocation') expect(outcomes.filter(({ gives }) => gives)).toEqual([])
})
