import { client, type FindingCase, healthy } from './configurations.ts'

const withPlugin = (plugin: object) => ({ ...healthy, clients: [client], plugins: [plugin] })

/** Configurations of clients that register themselves, with what the doctor finds. */
export const registrationCases: readonly FindingCase[] = [
  [
    'a scope for registered clients that is not declared',
    withPlugin({ name: 'registration', scopes: ['api1', 'api9'] }),
    { id: 'registration-scope-unknown', severity: 'warning', where: 'plugins[0].scopes' },
  ],
  [
    'registered clients that are asked about once',
    withPlugin({ name: 'registration', scopes: ['api1'], open: true, consent: 'allow' }),
    { id: 'registration-remembered', severity: 'warning', where: 'plugins[0].consent' },
  ],
  [
    'registered clients whose users cannot sign in',
    withPlugin({ name: 'registration', scopes: ['api1'], open: true }),
    { id: 'sign-in-missing', severity: 'warning', where: 'plugins[0]' },
  ],
  [
    'clients that describe themselves, whose tokens are for every API',
    {
      ...withPlugin({ name: 'client-metadata', scopes: ['api1', 'mcp:tools'] }),
      scopes: [
        { ...healthy.scopes[0], audience: 'https://api1.example.com' },
        { name: 'mcp:tools', audience: 'https://mcp.example.com/mcp' },
      ],
    },
    { id: 'resource-unread', severity: 'warning', where: 'plugins[0]' },
  ],
  [
    'many registrations',
    withPlugin({ name: 'registration', scopes: ['api1'], open: true, maxTotal: 1000, window: 60 }),
    { id: 'registration-limit-high', severity: 'warning', where: 'plugins[0].maxTotal' },
  ],
  [
    'secrets of registered clients without end',
    withPlugin({ name: 'registration', scopes: ['api1'], secretLifetime: 0 }),
    { id: 'registration-secret-lasting', severity: 'warning', where: 'plugins[0].secretLifetime' },
  ],
  [
    'registered clients with keys, without the plugin that verifies them',
    withPlugin({ name: 'registration', scopes: ['api1'], authenticationMethods: ['private_key_jwt'] }),
    { id: 'plugin-missing', severity: 'error', where: 'plugins[0].authenticationMethods' },
  ],
  [
    'registered clients with a grant type that no plugin has',
    withPlugin({
      name: 'registration',
      scopes: ['api1'],
      grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'],
    }),
    { id: 'plugin-missing', severity: 'error', where: 'plugins[0].grantTypes' },
  ],
  [
    'registered clients that ask for the admin API',
    { ...withPlugin({ name: 'registration', scopes: ['api1', 'admin'] }), administration: true },
    { id: 'registration-powerful', severity: 'error', where: 'plugins[0].scopes' },
  ],
  [
    'keys of registered clients in the local network',
    withPlugin({ name: 'registration', scopes: ['api1'], allowPrivateAddresses: true }),
    { id: 'jwks-uri-private', severity: 'warning', where: 'plugins[0].allowPrivateAddresses' },
  ],
]
