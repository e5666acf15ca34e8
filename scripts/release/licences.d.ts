import type { Component } from './dependencies.js'

export function licenceTable(components: readonly Component[]): string
