import { importAuth0, importHydra, importKeycloak } from '@grantry/administration/import'
import { metadataName } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { rows } from './metadata-table.ts'
import { metadata, setUp } from './parties.ts'

/** IANA, OAuth Dynamic Client Registration Metadata, as of 2025-10-02. */
const registry = `
  redirect_uris token_endpoint_auth_method grant_types response_types client_name client_uri logo_uri scope contacts tos_uri
  policy_uri jwks_uri jwks software_id software_version client_id client_secret client_id_issued_at client_secret_expires_at
  registration_access_token registration_client_uri application_type sector_identifier_uri subject_type
  id_token_signed_response_alg id_token_encrypted_response_alg id_token_encrypted_response_enc userinfo_signed_response_alg
  userinfo_encrypted_response_alg userinfo_encrypted_response_enc request_object_signing_alg request_object_encryption_alg
  request_object_encryption_enc token_endpoint_auth_signing_alg default_max_age require_auth_time default_acr_values
  initiate_login_uri request_uris claims_redirect_uris nfv_token_signed_response_alg nfv_token_encrypted_response_alg
  nfv_token_encrypted_response_enc tls_client_certificate_bound_access_tokens tls_client_auth_subject_dn
  tls_client_auth_san_dns tls_client_auth_san_uri tls_client_auth_san_ip tls_client_auth_san_email
  require_signed_request_object require_pushed_authorization_requests introspection_signed_response_alg
  introspection_encrypted_response_alg introspection_encrypted_response_enc frontchannel_logout_uri
  frontchannel_logout_session_required backchannel_logout_uri backchannel_logout_session_required post_logout_redirect_uris
  authorization_details_types dpop_bound_access_tokens client_registration_types signed_jwks_uri organization_name description
  keywords information_uri organization_uri use_mtls_endpoint_aliases encrypted_response_enc_values_supported
  vp_formats_supported`
  .trim()
  .split(/\s+/u)

/** The server issues them. */
const issued = [
  'client_id',
  'client_secret',
  'client_id_issued_at',
  'client_secret_expires_at',
  'registration_access_token',
  'registration_client_uri',
]

test('each name of the registry of IANA is in the table, or the server issues it', () => {
  expect(registry.filter((name) => metadataName(name) === undefined)).toEqual(issued)
})

test.each(issued)('a client cannot choose %s', async (name) => {
  const f = await setUp()
  const value = name.endsWith('_at') ? 1 : 'chosen-by-the-client'
  const { status, body } = await f.register({ ...metadata, [name]: value })
  if (status === 201) expect(body[name]).not.toEqual(value)
  else expect(body.error).toBe('invalid_client_metadata')
})

const secret = 'oFZ4mG2hV8wQ1xY7bN5tR3kL'
const uri = 'https://app.example.com/callback'

/** A client of an export, with a member under the name that the system gives it. */
const systems = {
  hydra: (name: string, value: unknown, more: object) =>
    importHydra(
      [
        {
          path: 'clients.json',
          content: [
            { client_id: 'app', client_secret: secret, redirect_uris: [uri], scope: 'openid', ...more, [name]: value },
          ],
        },
      ],
      {} as never,
    ),
  keycloak: (name: string, value: unknown) =>
    importKeycloak(
      [
        {
          path: 'realm.json',
          content: {
            realm: 'r',
            clients: [
              {
                clientId: 'app',
                enabled: true,
                secret,
                redirectUris: [uri],
                attributes: { [name.replaceAll('_', '.')]: String(value) },
              },
            ],
          },
        },
      ],
      {} as never,
    ),
  auth0: (name: string, value: unknown) =>
    importAuth0(
      [
        {
          path: 'auth0.json',
          content: {
            clients: [{ client_id: 'app', name: 'app', client_secret: secret, callbacks: [uri], [name]: value }],
          },
        },
      ],
      {} as never,
    ),
}

const demands = rows.filter(({ name, registered }) => registered.includes('refused') && metadataName(name)?.isDemand)
describe.each(Object.entries(systems))('an export of %s', (system, run) => {
  test.each(demands)('keeps the demand $name $value, or the report names it', async ({ name, value, more = {} }) => {
    const { clients, findings } = await run(name, value, more)
    const member = metadataName(name)?.member
    const isCarried = member !== undefined && String(clients[0]?.[member]) === String(value)
    const place = system === 'keycloak' ? `attributes.${name.replaceAll('_', '.')}` : name
    expect(isCarried || findings.some((finding) => finding.member === place)).toBe(true)
  })
})
