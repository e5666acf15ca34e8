import type { UserService } from '@grantry/core'
import { upstreamUsers } from '@grantry/plugins/upstream'
import { describe, expect, test } from 'vitest'
import { withUpstreamUsers } from '../../packages/server/src/users/upstream-users.ts'
import { createAccounts, setUpUpstream, type UpstreamSetting } from './parties.ts'

const profile = { name: 'Alice', email: 'alice@acme.example', email_verified: true, department: 'Sales', secret: 'x' }

/** A provider whose host has one user of its own, as the ready server has. */
async function setUpHost(setting: UpstreamSetting = {}) {
  const host: UserService = {
    authenticate: () => undefined,
    isActive: (sub) => sub === 'local',
    claims: (sub) => (sub === 'local' ? { name: 'Local' } : {}),
  }
  let provider: Awaited<ReturnType<typeof setUpUpstream>>['provider']
  const f = await setUpUpstream({
    ...setting,
    more: {
      scopes: [
        { name: 'profile', identity: true, claims: ['name', 'email', 'email_verified', 'department', 'secret'] },
        { name: 'api1' },
      ],
      users: withUpstreamUsers(host, () => provider),
    },
  })
  provider = f.provider
  const userinfo = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await f.provider.fetch(new Request(`${f.provider.issuer}/connect/userinfo`, { headers }))
    return (await response.json()) as Record<string, unknown>
  }
  return { ...f, userinfo }
}

describe('a user who has signed in at another provider, and has no account', () => {
  test('is active, and clients get what the provider states', async () => {
    const f = await setUpHost({ double: { claims: profile } })
    const { body, claims } = await f.claimsAfter({ scope: 'openid profile' })
    expect(await f.userinfo(body.access_token)).toEqual({
      sub: claims?.sub,
      name: 'Alice',
      email: 'alice@acme.example',
      email_verified: true,
    })
    expect(await f.provider.use(upstreamUsers).find('local')).toBeUndefined()
  })

  test('has further claims if the configuration names them, and changes with each sign-in', async () => {
    const f = await setUpHost({ double: { claims: profile }, provider: { claims: { department: 'department' } } })
    const { claims } = await f.claimsAfter({ scope: 'openid profile' })
    f.double.set({ claims: { ...profile, department: 'Support' } })
    const { body } = await f.claimsAfter({ scope: 'openid profile' })
    expect(await f.userinfo(body.access_token)).toMatchObject({ sub: claims?.sub, department: 'Support' })
  })

  test('has the claims of the userinfo endpoint, with an address and its state from one document', async () => {
    const f = await setUpHost({
      double: {
        claims: { email: 'unverified@acme.example' },
        userinfo: { sub: 'upstream-alice', name: 'Alice', email: 'alice@acme.example', email_verified: true },
      },
    })
    const { body } = await f.claimsAfter({ scope: 'openid profile' })
    expect(await f.userinfo(body.access_token)).toMatchObject({
      name: 'Alice',
      email: 'unverified@acme.example',
      email_verified: false,
    })
  })

  test('is gone after a removal, until the next sign-in', async () => {
    const f = await setUpHost()
    const { claims, body } = await f.claimsAfter()
    await f.provider.use(upstreamUsers).remove(String(claims?.sub))
    expect(await f.userinfo(body.access_token)).not.toHaveProperty('sub')
    expect((await f.claimsAfter()).claims?.sub).toBe(claims?.sub)
  })
})

// Otherwise the browser would come back to the page of the sign-in without a word, again and again.
describe('a user of another provider who is not active here', () => {
  test.each([
    ['as one that the host does not know', {}],
    ['as one that is linked, and was deactivated', { options: { accounts: createAccounts().accounts } }],
  ])('18.20 begins no session, and the page states why: %s', async (_name, setting) => {
    let isActive = false
    const f = await setUpUpstream({
      ...setting,
      more: { users: { authenticate: () => undefined, isActive: () => isActive } },
    })
    const page = await f.comeBack(await f.leave())
    expect(page.html).toMatch(/^signIn .*"problem":"provider_not_active","provider":"Acme"/u)
    expect(f.failures()).toEqual(['user_inactive'])
    expect(f.events.some(({ type }) => type === 'session_started' || type === 'upstream_sign_in_succeeded')).toBe(false)
    isActive = true
    expect((await f.claimsAfter()).claims).toMatchObject({ idp: 'acme' })
  })
})
