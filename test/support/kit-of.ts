import { defineHostFunctions, definePlugin, type EndpointKit, hostKey, type Provider } from '@grantry/core'

// A host has no kit of a plugin. Tests of the kit, and of what plugins store, let the plugin offer it.

const keyOf = (plugin: string) => hostKey<EndpointKit>(`kit-of-${plugin}`, `offerKit('${plugin}')`)

/** The part of a plugin with which it offers its kit. */
export const offerKit = (plugin: string) => defineHostFunctions(keyOf(plugin), (kit) => kit)

/** A plugin with no other part. */
export const kitPlugin = (plugin: string) => definePlugin(plugin, [offerKit(plugin)])

/** Returns the kit of a plugin that has offered it. */
export const kitOf = ({ use }: Pick<Provider, 'use'>, plugin: string): EndpointKit => use(keyOf(plugin))
