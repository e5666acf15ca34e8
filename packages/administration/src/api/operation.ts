import type { EndpointKit, EndpointRequest, Reply, TokenCaller } from '@grantry/core'
import * as v from 'valibot'
import type { AuditedChange } from '../audit.ts'
import type { Kind } from '../kinds/kind.ts'
import type { Managers } from '../managers.ts'
import type { AdminHost } from './host.ts'

/** A request to an operation. The caller is an administrator, and the parameters match the schema. */
export interface OperationCall<P = unknown> {
  readonly kit: EndpointKit
  readonly host: AdminHost
  /** The managers change entries in the name of the caller. */
  readonly managers: Managers
  /** Records a change of something else in the name of the caller. */
  readonly audited: <T>(change: AuditedChange, make: () => Promise<T>) => Promise<T>
  readonly caller: TokenCaller
  readonly request: EndpointRequest
  /** The segments of the path that `{}` stand for, in order. */
  readonly ids: readonly string[]
  /** The query of a GET or DELETE, the JSON body of other methods. */
  readonly params: P
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Members of a body that an operation passes on. */
export interface DescribedMembers {
  readonly describe: Kind['describe']
  /** Members of the schema that a body cannot contain. */
  readonly without: readonly string[]
}

/** An operation of the API: how requests reach it, what checks them, and how it is described. */
export interface Operation<P = unknown> {
  /** Unique; the `operationId` of the description. */
  readonly id: string
  readonly method: Method
  /** Relative to the API, such as `/clients/{id}`. */
  readonly path: string
  readonly summary: string
  /** The schema of the parameters. */
  readonly params: v.GenericSchema<unknown, P>
  /** Whether a request must name the version that it changes, in `If-Match`. Default: `false`. */
  readonly conditional?: boolean | undefined
  /** Whether `Idempotency-Key` makes a repeated request return the response of the first. Default: `false`. */
  readonly repeatable?: boolean | undefined
  /**
   * The kinds of the ids in the path, in order, if the operation does not concern the entries with these ids in the
   * storage.
   */
  readonly of?: readonly ('user' | 'client')[] | undefined
  /** The ids that this operation changes must not be those of the administrators. */
  readonly protects?: 'clients' | 'administrators' | undefined
  readonly status: 200 | 201 | 204
  /** Describes members that `params` accepts without a check, because the provider checks them. */
  readonly members?: DescribedMembers | undefined
  handle(call: OperationCall<P>): Promise<Reply>
}

/** Types the parameters of an operation by its schema. */
export const operation = <P>(typed: Operation<P>): Operation => typed as Operation

/** The schema of an operation without parameters. */
export const nothing = v.strictObject({})
