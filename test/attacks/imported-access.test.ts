// Attack: an export of another server has a placeholder where a secret was. What the import makes of it is a client whose
// secret is in the documentation of a tool. Or a demand in an unknown form is dropped, and a blocked user can sign in.
import { importAuth0, importHydra, importIdentityServer, importKeycloak } from '@grantry/administration/import'
import { describe, expect, test } from 'vitest'
import { plain, read, statusOf } from '../support/imported.ts'

const placeholders: readonly string[] = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: these are placeholders of other tools.
  ...['${SECRET}', '${vault.client-secret}', 'prefix-${SECRET}-suffix', '${{ secrets.CLIENT_SECRET }}'],
  ...['$(env:SECRET)', '$(SECRET)', '##SECRET##', '@@SECRET@@', '#{SECRET}', '#{SECRET}#', '{{ secret }}'],
  ...['{{.Values.secret}}', '<%= secret %>', '$SECRET', '$env:SECRET', '%SECRET%', '__SECRET__', '<client-secret>'],
  ...['[CLIENT SECRET]', 'env:SECRET', 'vault:secret/data/web#key', 'ENC(abc)', 'ENC[AES256_GCM,data:x]'],
  ...['{cipher}0a1b', 'ref+vault://secret', '@Microsoft.KeyVault(SecretUri=x)', '**********', 'xxxxxxxx', '    '],
  ...['((secret))', '%{SECRET}', '%(SECRET)s', '@SECRET@', '[[SECRET]]', '<<SECRET>>', '~{SECRET}', '$$SECRET$$'],
  ...['<secret/>', '&SECRET;', '!vault |', '!Ref Secret', 'arn:aws:secretsmanager:eu:1:secret:x', 'ssm:/prod/x'],
  ...[
    'awssm://x',
    '\uff04{SECRET}',
    'WEB_CLIENT_SECRET',
    'process.env.SECRET',
    'os.environ["SECRET"]',
    'ENV["SECRET"]',
  ],
  ...['null', 'None', 'undefined', 'redacted', 'changeme', 'CHANGE_ME', 'your-client-secret'],
  ...['change-me-please', 'CHANGEME123', 'SET_ME', 'placeholder', 'to-be-set', 'TODO: secret', 'n/a', 'example'],
  ...[
    '%env(SECRET)%',
    '%env(resolve:SECRET)%',
    '$__file{/run/secret}',
    '#ENV[SECRET]',
    'env.SECRET',
    "getenv('SECRET')",
  ],
  ...['keyvault:web', 'azure-kv:web', 'sops:web', 'enc:0a1b', 'k8s:prod/web', 'secretRef:web', 'gcp-sm:web'],
  ...[
    '/run/secrets/web',
    'projects/1/secrets/web/versions/latest',
    '$ANSIBLE_VAULT;1.1;AES256\n6233',
    '$\u200b{SECRET}',
  ],
]

const secrets: readonly string[] = [
  'a-secret-of-a-machine-1',
  '$ecret/with+signs=',
  'Zm9v$bar%baz__qux',
  '#1{x}y',
  '-_~abcDEF~_-',
  'Your9secret',
  'enc0a1b',
  'example-of-nothing-1',
  'settle-mead-7',
  '/Run9/aZ+b=',
]

describe.each(plain)('%s', (_name, from, of) => {
  test.each(placeholders)('the placeholder %s is the secret of no client', async (placeholder) => {
    const { clients, findings } = await read(from, of(placeholder))
    expect(clients.map(({ secrets }) => secrets)).toEqual([undefined])
    expect(findings.map(({ what }) => what).join('\n')).toMatch(/left out: it is a placeholder|not in the export/u)
  })

  test.each(secrets)('the secret %s is kept', async (secret) => {
    const { clients } = await read(from, of(secret))
    expect(await statusOf(clients, secret)).toBe(200)
  })

  test('a client whose id is a placeholder is left out', async () => {
    for (const id of ['##CLIENT##', '$(env:CLIENT)', `\${CLIENT}`]) {
      const { clients } = await read(from, of('a-secret-of-a-machine', { client_id: id, clientId: id }))
      expect(clients).toEqual([])
    }
  })
})

describe('a demand in a form that is not known', () => {
  const unknown: readonly unknown[] = ['yes', 'TRUE', 1, [], {}]

  test.each(unknown)('%j is kept', async (value) => {
    const [keycloak] = (
      await read(importKeycloak, {
        clients: [
          {
            clientId: 'c',
            enabled: value,
            consentRequired: value,
            standardFlowEnabled: value,
            directAccessGrantsEnabled: true,
            attributes: {
              'use.refresh.tokens': value,
              'dpop.bound.access.tokens': value,
              'require.pushed.authorization.requests': value,
            },
          },
        ],
      })
    ).clients
    expect(keycloak).toMatchObject({
      enabled: false,
      grantTypes: ['password'],
      dpopBoundAccessTokens: true,
      requirePushedAuthorizationRequests: true,
    })
    expect(keycloak).not.toHaveProperty('requireConsent')
    const [duende] = (
      await read(importIdentityServer, [
        {
          ClientId: 'c',
          Enabled: value,
          AllowedGrantTypes: ['authorization_code'],
          RequirePkce: value,
          RequireDPoP: value,
          RequireConsent: value,
          RequirePushedAuthorization: value,
        },
      ])
    ).clients
    expect(duende).toMatchObject({
      enabled: false,
      requirePkce: true,
      dpopBoundAccessTokens: true,
      requirePushedAuthorizationRequests: true,
    })
    expect(duende).not.toHaveProperty('requireConsent')
    const [hydra] = (
      await read(importHydra, [
        {
          client_id: 'c',
          dpop_bound_access_tokens: value,
          skip_consent: value,
          require_pushed_authorization_requests: value,
        },
      ])
    ).clients
    expect(hydra).toMatchObject({ dpopBoundAccessTokens: true, requirePushedAuthorizationRequests: true })
    expect(hydra).not.toHaveProperty('requireConsent')
    const [user] = (
      await read(importAuth0, {
        users: [{ user_id: 'auth0|1', username: 'ann', blocked: value, email: 'a@b.example', email_verified: value }],
      })
    ).users
    expect(user).toMatchObject({ active: false })
    expect(user).toMatchObject({ claims: { email_verified: false } })
  })

  test('a list of providers that cannot be read does not allow all', async () => {
    for (const IdentityProviderRestrictions of ['acme', [1], { a: 1 }]) {
      const { clients } = await read(importIdentityServer, [{ ClientId: 'c', IdentityProviderRestrictions }])
      expect(clients[0]).toMatchObject({ enabled: false })
    }
  })
})

test('a password that is a placeholder is that of no user', async () => {
  for (const value of placeholders) {
    const { users } = await read(importKeycloak, {
      clients: [],
      users: [{ id: '1', username: 'ann', enabled: true, credentials: [{ type: 'password', value }] }],
    })
    expect(users[0]).not.toHaveProperty('password')
  }
})
