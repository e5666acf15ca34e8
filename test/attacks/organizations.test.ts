/**
 * Attack: one issuer serves several organizations, which requests name by `acr_values=tenant:NAME`. A client lets a user ask for
 * a token of an organization that the user is no member of, and its API believes the name in the token.
 *
 * The seed, section 2.1; decision 169.
 */
import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { setUpSignIn } from '../sign-in/parties.ts'

const members: Readonly<Record<string, readonly string[]>> = { acme: ['alice'], beta: ['bob'] }
const isMember = (sub: string, organization: string): boolean =>
  Object.hasOwn(members, organization) && members[organization]?.includes(sub) === true

async function signedIn(acr: string | undefined, organizations?: { isMember: (sub: string, name: string) => unknown }) {
  const f = await setUpSignIn({}, {}, { organizations: organizations as never })
  const { enter, submit } = await f.start(acr === undefined ? {} : { acr_values: acr })
  const response = answer(await submit('consent', { decision: 'allow' }, await enter('alice')))
  if (response.code === undefined) return { response }
  const { body } = await f.redeem(response.code)
  const claims = JSON.parse(atob(String(body.id_token).split('.')[1] ?? ''))
  return { response, organization: claims.organization }
}

describe('a token names the organization of the request', () => {
  test('21.84 if the user is a member', async () => {
    expect(await signedIn('tenant:acme', { isMember })).toMatchObject({ organization: 'acme' })
  })

  test.each([
    ['tenant:beta'],
    ['tenant:unknown'],
    ['tenant:ACME'],
    [`tenant:${'a'.repeat(301)}`],
    ['tenant:__proto__'],
  ])('and the request is refused otherwise: %s', async (acr) => {
    const { response } = await signedIn(acr, { isMember })
    expect(response).toMatchObject({ error: 'access_denied' })
    expect(response).not.toHaveProperty('code')
  })

  test.each([undefined, 'acme', 1, {}, 'true'])('never if the host returns %j', async (result) => {
    const { response } = await signedIn('tenant:acme', { isMember: () => result })
    expect(response).toMatchObject({ error: 'access_denied' })
  })

  test('not without a request for one, and not without a check', async () => {
    expect((await signedIn(undefined, { isMember })).organization).toBeUndefined()
    expect((await signedIn('tenant:acme')).organization).toBeUndefined()
  })

  test('the first of several: no other one is in the token', async () => {
    expect(await signedIn('tenant:acme tenant:beta', { isMember })).toMatchObject({ organization: 'acme' })
    expect((await signedIn('tenant:beta tenant:acme', { isMember })).response).toMatchObject({ error: 'access_denied' })
  })
})

test('the user service receives the tenant of the request', async () => {
  const tenants: unknown[] = []
  const users = {
    authenticate: ({ tenant }: { readonly tenant?: string | undefined }) => {
      tenants.push(tenant)
      return { sub: 'alice' }
    },
  }
  const f = await setUpSignIn({}, { users })
  for (const acr of [{ acr_values: 'urn:x tenant:acme' }, {}, { acr_values: 'tenant:' }]) {
    const { enter } = await f.start(acr)
    await enter('alice')
  }
  expect(tenants).toEqual(['acme', undefined, undefined])
})
