-- The name of a model without what depends on the provider: in lower case; without the path, vendor and region before it
-- (`openrouter/anthropic/`, `us.anthropic.`), and the window (`[1m]`), version (`-v1:0`) and alias (`-latest`) behind it; with hyphens for
-- the dots between digits, and Claude's words in the order of Anthropic (`claude-4.5-sonnet` is `claude-sonnet-4-5`). A date at its end
-- stays.
CREATE OR REPLACE FUNCTION model_name(name) AS
  replaced(
    replaced(
      replaced(
        replaced(
          replaced(
            replaced(
              replaced(
                replaced(
                  replaced(
                    replaced(
                      lower_case(stripped(name)),
                      '^(?:.*/)?(?:(?:anthropic|openai|google|gemini|vertex_ai|vertex|bedrock|azure|openrouter|xai):)?',
                      ''
                    ),
                    '^(?:(?:us-gov|us|eu|apac|ap|au|jp|ca|sa|me|af|global)\.)?(?:anthropic|openai|amazon|meta|mistral|cohere|ai21|deepseek|qwen|moonshot|moonshotai|minimax|zai|google|nvidia|writer)\.|^databricks-',
                    ''
                  ),
                  '\[[0-9]+[km]\]$',
                  ''
                ),
                '-(?:v[0-9]+|[0-9]):[0-9]+(?::[0-9]+[km])?$|[-@](?:latest|default)$',
                ''
              ),
              '^(claude-.*[0-9])-v[0-9]+$',
              '\1'
            ),
            '@(20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2})$',
            '-\1'
          ),
          '([0-9])\.([0-9])',
          '\1-\2'
        ),
        '^claude-([4-9])((?:-[0-9]{1,2})?)-([a-z]+)((?:-.*)?)$',
        'claude-\3-\1\2\4'
      ),
      '^claude-([a-z]+)-3((?:-[57])?)((?:-20[0-9].*)?)$',
      'claude-3\2-\1\3'
    ),
    '^(claude-(?:opus|sonnet))-4-0((?:-.*)?)$',
    '\1-4\2'
  );
