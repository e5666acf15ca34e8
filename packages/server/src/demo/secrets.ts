/** The values that the console of the demo fills in. Public, like every secret of the demo. */
export interface DemoSecrets {
  readonly clients: Readonly<Record<string, string>>
  readonly apis: Readonly<Record<string, string>>
  /** User names and passwords. */
  readonly users: readonly { readonly username: string; readonly password: string }[]
  /** Values for grant parameters. */
  readonly fields: Readonly<Record<string, string>>
  /** The path that stands in for a login page. */
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
