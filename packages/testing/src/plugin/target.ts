import type { ClientCertificate, ClientOptions } from '@grantry/core'
import type { Credentials, TestClock, TestProvider, TestResponse } from '../test-provider.ts'
import type { CaseContext, CaseParameters } from './cases.ts'
import type { Probe } from './probe.ts'

/** A request that is ready to be sent. */
export interface Outgoing {
  readonly endpoint: string
  readonly method: string
  readonly body: 'form' | 'json' | 'query'
  readonly parameters: CaseParameters
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Basic authentication. */
  readonly as?: Credentials | undefined
  readonly clientCertificate?: ClientCertificate | undefined
  /** The address of the caller. */
  readonly from?: string | undefined
  /** A parameter to repeat. */
  readonly repeat?: string | undefined
}

/** The response to a request. */
export interface Received extends TestResponse {
  /** The error code of a refusal. A page and a redirect do not contain it, so it is that of the event. */
  readonly error: string | undefined
  /** The reason of a refusal, from its event. */
  readonly reason: string | undefined
}

/** The requests for a part. */
export interface Target {
  /** The part, for findings. */
  readonly part: string
  readonly singleUse: boolean
  /** Parameters whose values can occur in events and in the storage. */
  readonly public: readonly string[]
  /** Clients, besides those of the kit. */
  readonly clients?: readonly ClientOptions[] | undefined
  /** The kind of stored grant that `authorize` creates by default. */
  readonly kind?: string | undefined
  /** Prepares a request that succeeds. */
  prepare(setting: Setting, client: Sender): Promise<Outgoing>
}

/** The client that sends a request. */
export interface Sender {
  readonly clientId: string
  readonly credentials?: Credentials | undefined
}

/** A provider with the plugin. */
export interface Setting {
  readonly provider: TestProvider['provider']
  readonly clock: TestClock
  readonly probe: Probe
  context(client: Sender): CaseContext
  /** Sends a request, and checks the rules of every response. */
  send(outgoing: Outgoing): Promise<Received>
  /** Ends the rights of every user. */
  deactivateUsers(): void
  /** Checks the events and the storage. */
  finish(): void
}
