import type { Component } from './dependencies.js'

interface Release {
  readonly version: string
  readonly time: string
}
export function cycloneDx(
  components: readonly Component[],
  release: Release,
): {
  readonly components: readonly {
    readonly 'bom-ref': string
    readonly hashes?: readonly { readonly content: string }[]
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}
export function spdx(
  components: readonly Component[],
  release: Release,
): {
  readonly packages: readonly { readonly SPDXID: string }[]
  readonly relationships: readonly { readonly spdxElementId: string; readonly relatedSpdxElement: string }[]
}
