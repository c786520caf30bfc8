"""Real wheels that their metadata allows together, and that do not fit."""
from common import broken, pip_env


@broken("", proof="import flask_sqlalchemy", error="_app_ctx_stack", apply=True, cause=r"flask.sqlalchemy|_app_ctx_stack", fix="a newer Flask-SQLAlchemy or an older Flask")
def flask_sqlalchemy_25_flask_3(c):
    pip_env(c, "flask-sqlalchemy==2.5.1", "flask==3.0.3", "werkzeug==3.0.6", "sqlalchemy==1.4.54")


@broken("", proof="import tweepy", error="SyntaxError|invalid syntax", apply=True, cause=r"tweepy", fix="a newer tweepy: async is a word of the language since 3.7")
def tweepy_36_async_is_a_keyword(c):
    pip_env(c, "tweepy==3.6.0")


@broken("", proof="import mxnet", error="has no attribute 'bool'", cause=r"mxnet", fix="numpy<1.24", fix_text=r"numpy")
def mxnet_numpy_bool(c):
    pip_env(c, "mxnet==1.9.1", "numpy==1.26.4")


@broken("", proof="import tflearn", error="is_sequence|cannot import|No module", cause=r"tflearn", fix="an older TensorFlow; tflearn is not maintained", fix_text=r"tensorflow|uninstall|tflearn")
def tflearn_tensorflow_217(c):
    pip_env(c, "tensorflow-cpu==2.17.0", "keras==3.5.0", "tflearn==0.5.0", "setuptools==65.5.1")


@broken("", proof="import tcn", error="ImportError|ModuleNotFound|AttributeError", apply=False, cause=r"\btcn\b|keras.tcn", fix="a newer keras-tcn", fix_text=r"keras.tcn|keras|tensorflow")
def keras_tcn_27_keras_3(c):
    pip_env(c, "tensorflow-cpu==2.17.0", "keras==3.5.0")
    c.install("keras-tcn==2.7.0", deps=False)


@broken("", proof="import boruta, numpy as np; from sklearn.ensemble import RandomForestClassifier as R; boruta.BorutaPy(R(n_estimators=5), n_estimators=5, max_iter=3).fit(np.random.rand(30, 4), np.arange(30) % 2)",
        error="has no attribute '(int|bool|float)'", cause=r"boruta", apply=True, fix="a newer boruta or numpy<1.24", target="{work}/select.ipynb", asked_for="undocumented")
def boruta_03_np_int_when_used(c):
    from common import notebook
    pip_env(c, "boruta==0.3", "scikit-learn==1.3.2", "numpy==1.26.4", "scipy==1.11.4")
    notebook(c, "select.ipynb", ["from boruta import BorutaPy\nfrom sklearn.ensemble import RandomForestClassifier\nimport numpy as np",
                                 "b = BorutaPy(RandomForestClassifier(n_estimators=5), n_estimators=5, max_iter=3)\nb.fit(np.random.rand(30, 4), np.arange(30) % 2)"])


@broken("", proof="import gym; e = gym.make('CartPole-v1'); e.reset(); e.step(0)", error="bool8", cause=r"gym|bool8", fix="gymnasium, or numpy<2", fix_text=r"numpy|gymnasium", target="{work}/cartpole.py", asked_for="undocumented")
def gym_026_numpy_2(c):
    pip_env(c, "gym==0.26.2", "numpy==2.0.2")
    c.write("{work}/cartpole.py", "import gym\n\nenv = gym.make('CartPole-v1')\nstate, _ = env.reset()\nfor _ in range(10):\n    state, reward, done, cut, info = env.step(env.action_space.sample())\n")


@broken("", py="3.12", proof="import IPython.extensions.autoreload", error="No module named 'imp'", cause=r"\bimp\b", apply=True, fix="a newer ipython", target="{work}/a.ipynb")
def autoreload_of_ipython_on_python_312(c):
    from common import notebook
    pip_env(c, "ipython==7.34.0", "ipykernel==6.29.5", "setuptools==75.3.0")
    notebook(c, "a.ipynb", ["%load_ext autoreload\n%autoreload 2", "import json"])


@broken("", proof="import skopt; from skopt import BayesSearchCV", error="ImportError|AttributeError|ModuleNotFound", apply=True, cause=r"scikit.optimize|skopt", fix="a newer scikit-optimize")
def scikit_optimize_08_new_scikit_learn(c):
    pip_env(c, "scikit-optimize==0.8.1", "scikit-learn==1.5.2", "numpy==1.26.4")


@broken("", proof="import jupyter_server.serverapp", error="ImportError|ModuleNotFound|AttributeError", apply=True, cause=r"jupyter.server|\bsix\b", fix="a newer jupyter-server, or six")
def jupyter_server_16_that_nobody_gave_six(c):
    pip_env(c, "jupyter-server==1.6.4", "jupyter-client==8.6.3", "jinja2==3.1.4", "nbconvert==7.16.4", "ipykernel==6.29.5")


@broken("", proof="import pyLDAvis.sklearn", error="No module named|ImportError", apply=False, cause=r"pyldavis", fix="pyLDAvis.lda_model", fix_text=r"lda_model|pyLDAvis", target="{work}/topics.ipynb")
def notebook_with_pyldavis_sklearn(c):
    from common import notebook
    pip_env(c, "pyldavis==3.4.1", "numpy==1.26.4")
    notebook(c, "topics.ipynb", ["import pyLDAvis\nimport pyLDAvis.sklearn\npyLDAvis.enable_notebook()"])


@broken("", proof="import pymc3", error="Error", cause=r"pymc3|theano|arviz", fix="pymc (the successor), or older numpy and scipy", fix_text=r"numpy|scipy|pymc|arviz")
def pymc3_and_numpy_126(c):
    pip_env(c, "pymc3==3.11.4", "arviz==0.17.1", "setuptools==65.5.1")
    c.install("numpy==1.26.4", "scipy==1.11.4", deps=False)


@broken("", proof="import pmdarima", error="dtype size changed|Error", apply=True, cause=r"pmdarima", fix="a newer pmdarima or numpy<2")
def pmdarima_numpy_2(c):
    pip_env(c, "pmdarima==2.0.4", "numpy==2.0.2", "pandas==2.2.3", "setuptools==65.5.1")
