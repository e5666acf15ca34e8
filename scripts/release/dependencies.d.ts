/** A package of a release, or one that it needs. */
export interface Component {
  readonly name: string
  readonly version: string
  /** As in package-lock.json; absent for the packages of this repository. */
  readonly integrity?: string | undefined
  /** An SPDX expression. */
  readonly licence: string
  /** `name@version` of each. */
  readonly dependsOn: readonly string[]
  readonly isOurs: boolean
}
export function dependenciesOf(root: string, folders: readonly string[]): readonly Component[]
