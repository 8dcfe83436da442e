/** A code of the API as people write it: `issuer_token_rejected` as `Issuer token rejected`. */
export function wordOf(code: string): string {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
