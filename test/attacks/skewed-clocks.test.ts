/**
 * Attack: a thief has a signed JWT or a one-time password that is accepted once, and presents it again after the storage
 * has forgotten it, to a process whose clock is behind that of the process that has accepted it.
 *
 * RFC 7523 section 3 and RFC 9449 section 11.1: a JWT must be remembered as long as it could be accepted. RFC 6238
 * section 5.2: a one-time password must not be accepted again.
 */
import { createTestClock, mapDriver } from '@grantry/testing'
import { exportJWK, generateKeyPair } from 'jose'
import { expect, test } from 'vitest'
import { claims, setUp as clientAssertions, present, sign } from '../client-assertion/assertions.ts'
import { holder, request, start } from '../dpop/parties.ts'
import { example, setUp as grantAssertions, key as issuerKey } from '../jwt-bearer/bearer-parties.ts'
import { passwordAt, setUpFactors } from '../sign-in/one-time-password-parties.ts'

const now = 1_800_000_000

/** Seconds between the clocks of two processes. */
const skew = 59

/** A process with a storage, and a clock of its own. */
interface Process {
  readonly storage: ReturnType<typeof mapDriver>
  readonly runtime: { readonly now: () => number }
}

/** Creates the credential, with which a process can be called. Returns the last second at which it is accepted. */
type Presented = () => Promise<{
  readonly last: number
  presentTo(process: Process): Promise<{ readonly status: number }>
}>

const proof =
  (nonce: boolean): Presented =>
  async () => {
    const client = await holder()
    const keys = [await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)]
    const open = (process: Process) => start({ nonce }, { ...process, keys })
    const f = await open({ storage: mapDriver(), runtime: { now: () => now } })
    const current = (await request(f, await client.prove())).headers.get('dpop-nonce') ?? undefined
    const jwt = await client.prove({ nonce: current })
    return {
      last: now + (nonce ? 599 : 60),
      presentTo: async (process) => request(await open(process), jwt),
    }
  }

const clientAssertion: Presented = async () => {
  const jwt = await sign(claims())
  return {
    last: now + 69,
    presentTo: async (process) => present(await clientAssertions({}, undefined, { ...process }), jwt),
  }
}

const grantAssertion: Presented = async () => {
  const jwt = await issuerKey.sign({ ...example, jti: '1', nbf: now, exp: now + 60 })
  return {
    last: now + 69,
    presentTo: async (process) => (await grantAssertions({}, {}, { ...process })).redeem(jwt),
  }
}

const oneTimePassword: Presented = async () => ({
  last: now + 59,
  async presentTo(process) {
    const { browser, enterCode } = await (await setUpFactors({}, { ...process })).passed()
    await enterCode(passwordAt(now))
    const isSignedIn = [...browser.jar.keys()].some((name) => name.endsWith('grantry-session'))
    return { status: isSignedIn ? 200 : 400 }
  },
})

test.each<[string, Presented]>([
  ['a DPoP proof', proof(false)],
  ['a DPoP proof with a nonce', proof(true)],
  ['an assertion of a client', clientAssertion],
  ['an assertion of another issuer', grantAssertion],
  ['a one-time password', oneTimePassword],
])('%s is not accepted again by a process whose clock is behind', async (_, create) => {
  const clock = createTestClock(now)
  const storage = mapDriver(new Map(), clock.now)
  const { last, presentTo } = await create()
  expect((await presentTo({ storage, runtime: { now: () => clock.now() + skew } })).status).toBe(200)
  clock.advance(last - now)
  const again = await presentTo({ storage, runtime: { now: clock.now } })
  expect(again.status).toBeGreaterThanOrEqual(400)
  // The other process would still have accepted it.
  const unused = await presentTo({ storage: mapDriver(), runtime: { now: clock.now } })
  expect(unused.status).toBe(200)
})
