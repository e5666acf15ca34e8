// Minimal types of the peers, which are not dependencies of the workspace, so that type checks work without installing
// them.

declare module 'fastify' {
  export interface Reply {
    header(name: string, value: string): Reply
  }
  interface Fastify {
    register(plugin: unknown): Fastify
    post(path: string, listener: (request: object, reply: Reply) => Promise<unknown>): Fastify
    listen(options: { readonly port: number; readonly host: string }): Promise<string>
    readonly server: { address(): unknown }
  }
  export function fastify(options: { readonly logger: false }): Fastify
}

declare module '@fastify/formbody' {
  const plugin: object
  export default plugin
}

declare module 'jsonwebtoken' {
  const jsonwebtoken: { sign(payload: object, key: unknown, options: object): string }
  export default jsonwebtoken
}

declare module '@jmondi/oauth2-server' {
  export class DateInterval {
    constructor(interval: string)
    getEndDate(): Date
  }
  export class AuthorizationServer {
    constructor(clients: object, tokens: object, scopes: object, jwt: object, options: object)
    enableGrantTypes(...grants: readonly (readonly [string | object, DateInterval])[]): void
    respondToAccessTokenRequest(request: object): Promise<object>
    introspect(request: object): Promise<object>
  }
}

declare module '@jmondi/oauth2-server/fastify' {
  import type { Reply } from 'fastify'
  export function requestFromFastify(request: object): object
  export function handleFastifyReply(reply: Reply, response: object): void
  export function handleFastifyError(error: unknown, reply: Reply): void
}

declare module 'oidc-provider' {
  interface Model {
    save(ttl?: number): Promise<string>
  }
  interface Grant extends Model {
    addOIDCScope(scope: string): void
  }
  export interface Client {
    readonly clientId: string
  }
  export interface Context {
    body: unknown
    readonly oidc: {
      readonly client: Client
      readonly params: Readonly<Record<string, string>>
      entity(name: string, value: unknown): void
    }
  }
  export default class Provider {
    constructor(issuer: string, configuration: object)
    readonly AccessToken: new (
      properties: object,
    ) => Model & { readonly expiration: number }
    readonly RefreshToken: new (
      properties: object,
    ) => Model
    readonly AuthorizationCode: new (
      properties: object,
    ) => Model
    readonly Grant: new (
      properties: object,
    ) => Grant
    readonly Client: { find(id: string): Promise<Client> }
    interactionFinished(
      req: import('node:http').IncomingMessage,
      res: import('node:http').ServerResponse,
      result: object,
    ): Promise<void>
    registerGrantType(name: string, listener: (ctx: Context) => Promise<void>, parameters: readonly string[]): void
    callback(): (req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => void
  }
}

declare module 'srvx/node' {
  interface Server {
    readonly url?: string
    ready(): Promise<unknown>
  }
  export const FastResponse: typeof Response
  export function serve(options: {
    readonly fetch: (request: Request) => Promise<Response>
    readonly port: number
    readonly hostname: string
    readonly silent: true
  }): Server
}

declare module '@hono/node-server' {
  export function serve(
    options: {
      readonly fetch: (request: Request) => Promise<Response>
      readonly port: number
      readonly hostname: string
    },
    onListen: (info: { readonly port: number }) => void,
  ): unknown
}

declare module 'better-auth' {
  interface Auth {
    readonly options: object
    readonly $context: Promise<{
      readonly adapter: {
        findOne(query: { readonly model: string; readonly where: readonly object[] }): Promise<unknown>
        create(row: { readonly model: string; readonly data: object; readonly forceAllowId: boolean }): Promise<unknown>
      }
    }>
  }
  export function betterAuth(options: object): Auth
}

declare module 'better-auth/db/migration' {
  export function getMigrations(options: object): Promise<{ runMigrations(): Promise<void> }>
}

declare module 'better-auth/node' {
  export function toNodeHandler(
    auth: object,
  ): (req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => Promise<void>
}

declare module 'better-auth/plugins' {
  export function jwt(options: object): object
}

declare module '@better-auth/oauth-provider' {
  export function oauthProvider(options: object): object
}
