/** What the demo's console fills in: known to everybody, like everything in the demo. */
export interface DemoSecrets {
  readonly clients: Readonly<Record<string, string>>
  readonly apis: Readonly<Record<string, string>>
  /** Names and passwords. */
  readonly users: readonly { readonly username: string; readonly password: string }[]
  /** Values of fields of the grants. */
  readonly fields: Readonly<Record<string, string>>
  /** The stand-in for a login page. */
  readonly authorizePath: string
}

export const demoSecrets: DemoSecrets = {
  clients: { demo: 'demo-secret', 'demo-jwt': 'demo-secret' },
  apis: { api1: 'api1-secret', api2: 'api2-secret' },
  users: [
    { username: 'alice', password: 'alice-password' },
    { username: 'bob', password: 'bob-password' },
  ],
  fields: { badge_id: '123456' },
  authorizePath: '/demo/authorize',
}
