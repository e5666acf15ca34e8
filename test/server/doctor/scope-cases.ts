import { type FindingCase, healthy, withClient } from './configurations.ts'

/** Scopes, as in `scopes.ts`. */
export const scopeCases: readonly FindingCase[] = [
  [
    'a scope that no client may request',
    { ...healthy, scopes: [...healthy.scopes, { name: 'api2', audience: 'https://api2.example.com' }] },
    { id: 'scope-unused', severity: 'info', where: 'scopes[1]' },
  ],
  [
    'two APIs, one without an audience',
    {
      ...withClient({ scopes: ['api1', 'api2'] }),
      scopes: [{ name: 'api1', audience: 'https://api1.example.com' }, { name: 'api2' }],
    },
    { id: 'scope-without-audience', where: 'scopes[1].audience' },
  ],
  [
    'a scope of two APIs, and no plugin that reads which one a request is for',
    {
      ...withClient({ scopes: ['read'] }),
      scopes: [{ name: 'read', audience: ['https://api1.example.com', 'https://api2.example.com'] }],
    },
    { id: 'plugin-missing', where: 'scopes[0].audience' },
  ],
]
