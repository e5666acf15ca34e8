import { client, type FindingCase, type HealthyCase, hashed, healthy, strong } from './configurations.ts'

const urn = 'urn:ietf:params:oauth:grant-type:'
const identityProvider = { issuer: 'https://idp.example.com', jwksUri: 'https://idp.example.com/jwks' }
const chat = {
  issuer: 'https://auth.chat.example',
  resources: ['https://mcp.chat.example'],
  clients: [{ clientId: 'agent', scopes: ['chat.read'] }],
}
const presenter = { ...client, clientId: 'agent', grantTypes: [`${urn}jwt-bearer`] }

const withPlugin = (plugin: object, ...clients: readonly object[]) => ({
  ...healthy,
  clients: [client, ...clients],
  plugins: [plugin],
})

/** Both sides of identity assertions, without a finding. */
export const healthyIdJag: readonly HealthyCase[] = [
  [
    'id-jag',
    withPlugin(
      { name: 'id-jag', accept: { issuers: [identityProvider] }, issue: { servers: [chat] } },
      {
        ...client,
        clientId: 'agent',
        secrets: [hashed(strong('agent'))],
        grantTypes: [`${urn}token-exchange`, `${urn}jwt-bearer`],
      },
    ),
  ],
]

/** A configuration with identity assertions and the expected finding. */
export const idJagCases: readonly FindingCase[] = [
  [
    'assertions of identity providers, which no client can present',
    withPlugin({ name: 'id-jag', accept: { issuers: [identityProvider] } }),
    { id: 'assertion-client-missing', severity: 'warning', where: 'plugins[0].accept' },
  ],
  [
    'an identity provider that can name the users of another one',
    withPlugin(
      {
        name: 'id-jag',
        accept: { issuers: [identityProvider, { ...identityProvider, issuer: 'https://b.example', subject: 'same' }] },
      },
      presenter,
    ),
    { id: 'assertion-users-shared', severity: 'warning', where: 'plugins[0].accept.issuers[1].subject' },
  ],
  [
    'assertions with a scope that does not exist',
    withPlugin({ name: 'id-jag', accept: { issuers: [{ ...identityProvider, scopes: ['api9'] }] } }, presenter),
    { id: 'assertion-scope-unknown', severity: 'warning', where: 'plugins[0].accept.issuers[0].scopes' },
  ],
  [
    'keys of identity providers in the own network',
    withPlugin(
      { name: 'id-jag', accept: { issuers: [identityProvider], jwksUri: { allowPrivateAddresses: true } } },
      presenter,
    ),
    { id: 'jwks-uri-private', severity: 'warning', where: 'plugins[0].accept.jwksUri.allowPrivateAddresses' },
  ],
  [
    'assertions for a client that cannot ask for them',
    withPlugin({ name: 'id-jag', issue: { servers: [chat] } }),
    { id: 'assertion-client-missing', severity: 'warning', where: 'plugins[0].issue.servers[0].clients[0].clientId' },
  ],
  [
    'assertions for a server that is a client under its issuer',
    withPlugin(
      { name: 'id-jag', issue: { servers: [chat] } },
      { ...client, clientId: 'agent', grantTypes: [`${urn}token-exchange`] },
      { ...client, clientId: chat.issuer },
    ),
    { id: 'assertion-as-identity-token', severity: 'warning', where: 'plugins[0].issue.servers[0].issuer' },
  ],
]
