/**
 * Returns text between the characters FSI and PDI, so that its direction does not change the order
 * of the text around it. For text without elements; elsewhere, use `<bdi>`.
 */
export const isolate = (text: string): string => `\u2068${text}\u2069`
