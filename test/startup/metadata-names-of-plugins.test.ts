// The names of metadata that a plugin has for members: with one for a member of the core, a client that registers could decide
// about its own rights.
import { defineFields, definePlugin, member } from '@grantry/core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, fixture } from '../support/fixture.ts'

const word = member(v.optional(v.string('must be a string')), { title: 'Word', text: 'A word.', group: 'application' })

/** A third plugin with these names for members. */
const startWith = (clientMetadata: Readonly<Record<string, string>>) =>
  fixture({
    plugins: [...builtInPlugins, definePlugin('words', [defineFields({ client: { word }, clientMetadata })])],
  })

describe('a name of metadata', () => {
  test('for a member of the plugin is accepted', async () => {
    await expect(startWith({ a_word: 'word', 'x.word-2': 'word' })).resolves.toBeDefined()
  })

  test.each([
    ...['clientId', 'secrets', 'public', 'enabled', 'grantTypes', 'scopes', 'redirectUris', 'accessTokenLifetime'],
    ...['tokenEndpointAuthMethod', 'refreshToken', 'identityTokenAlgorithm', 'allowedCorsOrigins', 'identityProviders'],
    // Members of other plugins, and what no client has.
    ...['requireConsent', 'selfDescribed', 'requirePkce', 'other', 'constructor', '__proto__', ''],
  ])('for the member %j is refused', async (name) => {
    await expect(startWith({ a_word: name })).rejects.toThrow(
      `plugins: words has the metadata name a_word for ${name}, which is no member of a client that it defines`,
    )
  })

  test.each([
    ...['redirect_uris', 'post_logout_redirect_uris', 'grant_types', 'response_types', 'scope', 'jwks', 'jwks_uri'],
    ...['token_endpoint_auth_method', 'token_endpoint_auth_methods_supported', 'id_token_signing_alg_values_supported'],
    ...['client_name', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri', 'application_type', 'require_auth_time'],
    ...['client_id', 'client_secret', 'client_id_issued_at', 'client_secret_expires_at'],
    ...['registration_access_token', 'registration_client_uri'],
    ...['software_id', 'software_version', 'software_statement'],
    ...['constructor', 'toString', '', 'Word', '1word', 'a word', 'a"', 'x'.repeat(101)],
  ])('that is %j is refused', async (name) => {
    await expect(startWith({ [name]: 'word' })).rejects.toThrow(
      `plugins: words has the metadata name ${name} for word, which is no name that a plugin can have`,
    )
  })

  test('that the core has for another member is refused', async () => {
    await expect(startWith({ id_token_signed_response_alg: 'word' })).rejects.toThrow(
      'which stands for identityTokenAlgorithm',
    )
  })
})
