export function prepareOutput(directory: string): void
